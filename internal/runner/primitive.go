package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/secret"
)

// Bounds of what a primitive takes and gives.
const (
	maxScript  = 100 << 10 // of Linux's 128 KiB for one argument
	maxWritten = 4 << 20
	maxShown   = 16 << 10 // bytes of one stream, or of a file, in one result; half of them its end
)

// primitives are what a model can do in the VM. Each runs with the rights of a step's own commands.
func (t *talk) primitives() []tool {
	return []tool{
		primitive("run", "Run a bash script in /workspace and get its exit status and output. Put all commands of one piece of work into one script; "+
			"begin with `set -e` to stop at the first that fails. Long output is shown in part, and says where the whole is. "+
			"The step fails if the last script you run fails.",
			`{"type":"object","properties":{"script":{"type":"string"},"timeout_seconds":{"type":"integer","minimum":1}},"required":["script"],"additionalProperties":false}`, t.runScript),
		primitive("write_file", "Write a text file below /workspace, with its directories; what is there already is replaced. Files in /workspace/out are the step's results.",
			`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`, t.writeFile),
		primitive("read_file", "Read a text file of the VM, or a part of it: up to 16 KiB from a byte offset.",
			`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":0}},"required":["path"],"additionalProperties":false}`, t.readFile),
	}
}

type scriptInput struct {
	Script  string `json:"script"`
	Timeout int    `json:"timeout_seconds"`
}

// runScript executes a script. That it fails is for the model to see; only what nobody can go on after is an error.
func (t *talk) runScript(ctx context.Context, in scriptInput) (string, error) {
	if len(in.Script) > maxScript {
		return "", complaint("the script is %d bytes, of at most %d: write it to a file and run that", len(in.Script), maxScript)
	}
	if strings.Contains(in.Script, "\x00") {
		return "", complaint("the script holds a NUL byte")
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if in.Timeout > 0 {
		limited, cancel = context.WithTimeoutCause(ctx, time.Duration(in.Timeout)*time.Second, errScriptTime)
	}
	defer cancel()
	t.ran++
	cmd, err := t.run.command(limited, t.world, t.step, invocation{
		argv: []string{"bash", "-c", in.Script}, text: in.Script, log: t.step.ID + "." + strconv.Itoa(t.ran), head: maxShown / 2, in: t.given,
	}, t.res)
	t.given = nil
	t.last = cmd
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		t.failed = fmt.Errorf("it took longer than %d s", in.Timeout)
		return t.shown(ctx, cmd, fmt.Sprintf("ended after %d s, with everything it had started", in.Timeout))
	}
	if err != nil {
		return "", err
	}
	if t.failed = nil; cmd.res.ExitCode != 0 {
		t.failed = cmd.failure()
	}
	return t.shown(ctx, cmd, "exit status "+strconv.Itoa(cmd.res.ExitCode))
}

var errScriptTime = fmt.Errorf("the script's time limit: %w", context.DeadlineExceeded)

// shown is a script's end as the model reads it: nothing in it changes from one run to the next by itself.
func (t *talk) shown(ctx context.Context, cmd *command, end string) (string, error) {
	var b strings.Builder
	b.WriteString(end + "\n")
	if cmd.res.Reason != "" {
		fmt.Fprintf(&b, "reason: %s\n", cmd.res.Reason)
	}
	for _, s := range []struct {
		name string
		*capture
	}{{"stdout", cmd.stdout}, {"stderr", cmd.stderr}} {
		if s.scrubbed == 0 {
			continue
		}
		text, whole := s.ends(maxShown / 2)
		if !whole {
			name := fmt.Sprintf(".output/%d.%s", t.ran, s.name)
			if err := t.giveBack(ctx, name, s.capture); err != nil {
				return "", err
			}
			text += fmt.Sprintf("\n[%d bytes in all: %s]", s.scrubbed, path.Join("/workspace", name))
		}
		b.WriteString(fence(s.name, text))
	}
	return b.String(), nil
}

// giveBack puts the whole of a long output into the world, scrubbed, where the model can read on.
func (t *talk) giveBack(ctx context.Context, name string, c *capture) error {
	if c.file == nil {
		return nil
	}
	return t.world.Put(ctx, ".", []sandbox.File{{Path: name, Mode: 0o644, Size: min(c.scrubbed, maxKept), Open: func() (io.ReadCloser, error) {
		return openKept(c.file.Name())
	}}})
}

type fileInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Offset  int64  `json:"offset"`
}

// writeFile puts a file. Its own rights end at /workspace, as those of the host's files do: see sandbox.World.
func (t *talk) writeFile(ctx context.Context, in fileInput) (string, error) {
	name, err := below(in.Path)
	if err != nil {
		return "", err
	}
	if len(in.Content) > maxWritten {
		return "", complaint("the content is %d bytes, of at most %d", len(in.Content), maxWritten)
	}
	err = t.world.Put(ctx, path.Dir(name), []sandbox.File{{Path: path.Base(name), Mode: 0o644, Size: int64(len(in.Content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(in.Content)), nil
	}}})
	if ctx.Err() != nil || errors.Is(err, sandbox.ErrLost) {
		return "", err
	}
	if err != nil {
		return "", complaint("it could not be written: %v", err)
	}
	d, err := t.run.scribe.Body([]byte(in.Content))
	if err != nil {
		return "", err
	}
	d["path"] = t.run.scribe.Exact("/workspace/" + name)
	_, err = t.run.Ledger.Append(ledger.FileWritten, t.step.ID, d)
	return "written: /workspace/" + name, err // without its size: a replay writes what is kept of it
}

// below is a path of the model's as one below /workspace.
func below(name string) (string, error) {
	name = strings.TrimPrefix(path.Clean("/"+strings.TrimPrefix(name, "/workspace/")), "/")
	top, _, _ := strings.Cut(name, "/")
	if !fs.ValidPath(name) || name == "." || !filepath.IsLocal(name) || strings.ContainsAny(name, "\x00\n") {
		return "", complaint("%q is no path of a file below /workspace", name)
	}
	if top == "skills" || top == "in" {
		return "", complaint("/workspace/%s is not to be changed", top)
	}
	return name, nil
}

// readFile reads as a command of the step would, so that a link leads nowhere that the step may not go.
func (t *talk) readFile(ctx context.Context, in fileInput) (string, error) {
	if in.Path == "" || strings.Contains(in.Path, "\x00") || in.Offset < 0 {
		return "", complaint("give a path, and an offset that is not negative")
	}
	from := max(0, in.Offset-aside)
	out, said := &bounded{most: 2*aside + maxShown}, &bounded{most: 1 << 10}
	res, err := t.world.Run(ctx, sandbox.Command{Argv: []string{
		"bash", "-c", `set -o pipefail; [ -f "$1" ] || { echo "no such regular file: $1" >&2; exit 1; }; tail -c "+$2" -- "$1" | head -c "$3"`,
		"read_file", in.Path, strconv.FormatInt(from+1, 10), strconv.Itoa(out.most),
	}}, out, said)
	if err != nil {
		return "", err
	}
	if res.ExitCode != 0 && out.Len() == 0 {
		return "", complaint("it could not be read: %s", strings.TrimSpace(said.String()))
	}
	begin := min(int(in.Offset-from), out.Len())
	end := min(begin+maxShown, out.Len())
	more := end < out.Len()
	kept, hits := part(t.run.Secrets, out.Bytes(), begin, end)
	if err := t.run.recordFinds(t.step.ID, in.Path, findsOf(hits), nil); err != nil {
		return "", err
	}
	sum := sha256.Sum256(kept)
	if _, err := t.run.Ledger.Append(ledger.FileRead, t.step.ID, ledger.Data{
		"path": t.run.scribe.Exact(in.Path), "offset": in.Offset, "bytes": end - begin, "sha256": "sha256:" + hex.EncodeToString(sum[:]),
	}); err != nil {
		return "", err
	}
	text := fence(in.Path, string(kept))
	if more {
		text += fmt.Sprintf("[more from offset %d]\n", in.Offset+maxShown)
	}
	return text, nil
}

// aside is how much is looked at on both sides of what a model is shown, in bytes: as much as the longest secret may have. Who
// reads a secret in two parts would be shown neither as one.
const aside = 16 << 10

// part is the bytes from begin to end with a marker in the place of what is, or is a part of, a secret.
func part(set *secret.Set, body []byte, begin, end int) (out []byte, found []secret.Hit) {
	_, hits := set.Redact(body)
	plain := begin
	for _, h := range hits {
		from, to := int(h.Offset), int(h.Offset)+h.Len
		if to <= begin || from >= end {
			continue
		}
		found = append(found, h)
		if from > plain {
			out = append(out, body[plain:from]...)
		}
		if to > plain {
			out = append(out, "[REDACTED:"+h.Name+"]"...)
			plain = to
		}
	}
	if plain < end {
		out = append(out, body[plain:end]...)
	}
	return out, found
}

// bounded keeps the first bytes of a stream.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), b.most-b.Len())])
	return len(p), nil
}
