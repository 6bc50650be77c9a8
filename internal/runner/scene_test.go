package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// scene is one step's world, as its script finds it.
type scene struct {
	ctx            context.Context //nolint:containedctx // of Run
	spec           sandbox.WorldSpec
	files          map[string]string // below /workspace
	argv           []string
	stdout, stderr io.Writer
	out            []outFile
	closed         bool
	vm             *scriptedVM
}

// outFile is something in /workspace/out. err, when set, is where reading it ends.
type outFile struct {
	name, body string
	err        error
}

func (s *scene) print(text string) { _, _ = io.WriteString(s.stdout, text) }
func (s *scene) keep(name, body string) {
	s.out = append(s.out, outFile{name: name, body: body})
}
func (s *scene) token() string { return s.spec.Env["JOY_RUN_TOKEN"] }

func (s *scene) Put(_ context.Context, dir string, files []sandbox.File) error {
	for _, f := range files {
		r, err := f.Open()
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		s.files[dir+"/"+f.Path] = string(b)
		_ = r.Close()
	}
	return s.vm.Err()
}

func (s *scene) Run(ctx context.Context, cmd sandbox.Command, stdout, stderr io.Writer) (sandbox.Result, error) {
	s.ctx, s.argv, s.stdout, s.stderr = ctx, cmd.Argv, stdout, stderr
	script := s.vm.provider.scripts[s.spec.ID]
	if script == nil {
		s.print("{}")
		return sandbox.Result{}, nil
	}
	return script(s)
}

func (s *scene) Collect(ctx context.Context, _ policy.Artifacts, put func(sandbox.Found, io.Reader) error) (got sandbox.Collected, err error) {
	if s.vm.Err() != nil {
		return got, s.vm.Err()
	}
	slices.SortFunc(s.out, func(a, b outFile) int { return strings.Compare(a.name, b.name) })
	for _, f := range s.out {
		body := io.Reader(strings.NewReader(f.body))
		if f.err != nil {
			body = io.MultiReader(body, failing{f.err})
		}
		if err := put(sandbox.Found{Path: f.name, Size: int64(len(f.body))}, body); err != nil && f.err == nil {
			return got, err
		} else if err != nil {
			got.Skipped = append(got.Skipped, sandbox.Skip{Path: f.name, Reason: "unreadable"})
		}
	}
	if s.vm.provider.collect != nil {
		got.Skipped, err = s.vm.provider.collect(ctx, s)
	}
	return got, err
}

func (s *scene) Close(context.Context) error {
	s.closed = true
	if s.vm.provider.close != nil {
		return s.vm.provider.close(s.spec.ID)
	}
	return nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// scope asks the broker at this step's door what a token is good for.
func (s *scene) scope(token string) string {
	return s.request("GET /v1/run HTTP/1.1\r\nAuthorization: Bearer " + token)
}

// request sends one request, without its end, to this step's door and gives the answer.
func (s *scene) request(head string) string {
	return s.send(head + "\r\nHost: joy\r\nConnection: close\r\n\r\n")
}

func (s *scene) send(request string) string {
	mine, theirs := net.Pipe()
	defer mine.Close()
	go s.vm.spec.Door(s.spec.ID, theirs)
	go func() { _, _ = io.WriteString(mine, request) }()
	answer, _ := io.ReadAll(mine)
	return string(answer)
}

// lastWords is how a provider tells the end of a VM; refused, a guest that did not do what was asked.
func lastWords(said string) error {
	return fmt.Errorf("%w; the VM's last words: %s", sandbox.ErrLost, said)
}

func refused(said string) error { return errors.New("exec: " + said) }
