package cli

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/term"
)

// liveView renders the ledger for a person while the run goes on: a line an entry, cut to the terminal's width.
type liveView struct {
	app   *app
	style *ledgerView
	step  int // columns of the steps
	rest  []byte
}

func (a *app) liveView(p *plan.Plan) io.Writer {
	widest := 0
	if p.Setup != nil {
		widest = len(setupStep)
	}
	for _, s := range p.Steps {
		widest = max(widest, ansi.StringWidth(s.ID))
	}
	return &liveView{app: a, style: &ledgerView{app: a, opts: showOptions{zone: time.UTC}}, step: min(widest, a.out.width/4)}
}

// Write takes the ledger's bytes, whole lines or parts of them.
func (v *liveView) Write(b []byte) (int, error) {
	v.rest = append(v.rest, b...)
	for {
		end := bytes.IndexByte(v.rest, '\n') + 1
		if end == 0 {
			return len(b), nil
		}
		if err := verify.Read(bytes.NewReader(v.rest[:end]), v.print); err != nil {
			return 0, err
		}
		v.rest = v.rest[end:]
	}
}

// hidden entries say nothing to somebody who watches: the ledger has them.
var hidden = map[string]bool{"token.issued": true, "token.revoked": true, "sandbox.requested": true, "run.waiting": true, "model.requested": true}

// unwatched are members that nobody compares while a run goes on.
var unwatched = []string{"confinement", "guest", "id", "image", "joy", "output", "plan", "sha256", "trigger", "verified"}

func (v *liveView) print(e verify.Entry) error {
	if hidden[e.Type] {
		return nil
	}
	out := v.app.out
	what := fmt.Sprintf("%-17s", strings.ReplaceAll(e.Type, ".", " "))
	if s := v.style.style(e); s != nil {
		what = s.Render(what)
	}
	head := e.Time.UTC().Format("15:04:05")
	step := ansi.Truncate(term.Line(e.Step), v.step, "…")
	step += strings.Repeat(" ", v.step-ansi.StringWidth(step))
	room := out.width - len(head) - v.step - 17 - 6
	_, err := fmt.Fprintf(out, "%s  %s  %s  %s\n", out.dim.Render(head), step, what, ansi.Truncate(term.Line(watched(e)), max(room, 20), "…"))
	return err
}

// watched is an entry's phrase without what nobody watches.
func watched(e verify.Entry) string {
	data := maps.Clone(e.Data)
	for _, key := range unwatched {
		if e.Type != "sandbox.destroyed" || data[key] != false { // a VM that may live is said
			delete(data, key)
		}
	}
	if _, seq := data["command"].(int64); seq {
		delete(data, "command")
	}
	e.Data = data
	return phrase(e)
}
