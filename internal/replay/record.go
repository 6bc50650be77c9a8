// Package replay answers a run from the record of a past one: what its models replied and what its tools returned. Scripts are
// not replayed; they run again, and are compared.
//
// The one rule: an answer is given for the very question that is on record. A question that is not there is a difference, with the
// place where it begins, and never answered by something like it.
package replay

import (
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// maxBody bounds one body of a record, in bytes.
const maxBody = 64 << 20

// Record is what a past run was given, asked and answered. It is safe for concurrent use.
type Record struct {
	Run     string // id
	Plan    string // digest
	Input   json.RawMessage
	Files   map[string]File // file inputs, by the name of the input
	Image   string          // what the VM was booted from; "" when there was none
	Model   Model           // zero: none was asked
	Account *account.Run    // what the ledger tells of the run

	mu        sync.Mutex
	exchanges []*exchange
	pending   []*exchange // asked and not yet answered
	calls     []*call
	object    Objects
	parted    bool  // something was asked that is not there
	failed    error // of an entry whose body is not there
}

// Objects is where the bodies are, by digest (sha256:…). What it gives must be compared with the digest by then.
type Objects func(digest string) (io.ReadCloser, error)

// File is a file input of the run.
type File struct {
	Name   string
	Size   int64
	Digest string
}

// Model is who was asked.
type Model struct{ Provider, Name string }

type exchange struct {
	step     string
	turn     int64
	request  string // digest of the scrubbed bytes
	response string // digest; "" when no answer came
	status   int
	used     bool
}

type call struct {
	step, action, arguments string // arguments: a digest
	result                  string // a digest; "" when nothing came back
	problem                 string
	used                    bool
}

// Read takes a record from its ledger, which must hold: it is refused when it is broken, and when it does not end, since
// nobody knows then what else was asked.
func Read(ledger io.Reader, objects Objects) (*Record, error) {
	r := &Record{Account: account.NewRun(), Files: map[string]File{}, object: objects}
	open := map[int64]any{}
	rep, err := verify.Check(ledger, verify.Options{Each: func(e verify.Entry) {
		r.Account.Add(e)
		r.take(e, open)
	}})
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Platform, err, "read the record")
	case held(rep, nil) != nil:
		return nil, held(rep, nil)
	case r.failed != nil:
		return nil, r.failed
	}
	r.Run, r.Plan = rep.Run, rep.PlanDigest
	return r, nil
}

func (r *Record) take(e verify.Entry, open map[int64]any) {
	of, _ := e.Int("of")
	switch e.Type {
	case "run.started":
		r.begin(e)
	case "sandbox.created":
		r.Image = e.String("image")
	case "model.requested":
		turn, _ := e.Int("turn")
		x := &exchange{step: e.Step, turn: turn, request: body(e, "request")}
		r.Model = Model{e.String("provider"), e.String("model")}
		r.exchanges, open[e.Seq] = append(r.exchanges, x), x
	case "model.replied":
		if x, ok := open[of].(*exchange); ok {
			status, _ := e.Int("status")
			x.response, x.status = body(e, "response"), int(status)
		}
	case "tool.requested":
		c := &call{step: e.Step, action: e.String("action"), arguments: body(e, "arguments")}
		r.calls, open[e.Seq] = append(r.calls, c), c
	case "tool.returned":
		if c, ok := open[of].(*call); ok {
			c.result, c.problem = body(e, "result"), e.String("error")
		}
	}
}

func (r *Record) begin(e verify.Entry) {
	r.Input, r.failed = r.read(body(e, "input"))
	if r.failed == nil && strings.Contains(string(r.Input), "[REDACTED:") {
		r.failed = fault.New(fault.Input, "the run had an input that is not on record, since it is a secret; such a run cannot be repeated from its record alone")
	}
	files, _ := e.Data["files"].(map[string]any)
	for name, v := range files {
		f, _ := v.(map[string]any)
		size, _ := f["bytes"].(int64)
		file := File{Size: size}
		file.Name, _ = f["name"].(string)
		file.Digest, _ = f["sha256"].(string)
		r.Files[name] = file
	}
}

// body is the digest of a body that an entry names, or "".
func body(e verify.Entry, key string) string {
	m, _ := e.Data[key].(map[string]any)
	s, _ := m["sha256"].(string)
	return s
}

// read is a body of the record. A missing one is said by what it is, not by a path.
func (r *Record) read(digest string) ([]byte, error) {
	src, err := r.object(digest)
	if err != nil {
		return nil, missing(digest, err)
	}
	defer src.Close()
	b, err := io.ReadAll(io.LimitReader(src, maxBody+1))
	if err == nil && len(b) > maxBody {
		return nil, fault.New(fault.Input, "%.19s… of the record is longer than %d MiB, which is too much for a record file", digest, maxBody>>20).
			WithHint("replay it where it ran: joy replay RUN")
	}
	if err != nil {
		return nil, missing(digest, err)
	}
	return b, nil
}

func missing(digest string, err error) error {
	return fault.Wrap(fault.Input, err, "the record lacks what it names %.19s…", digest).
		WithHint("joy gc --runs-older --bodies may have removed it; joy ledger export --format replay keeps a record whole")
}
