package cli

import (
	"bytes"
	"io"
	"maps"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
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
var unwatched = []string{"confinement", "guest", "id", "image", "joy", "output", "plan", "sha256", "verified"}

func (v *liveView) print(e verify.Entry) error {
	if hidden[e.Type] {
		return nil
	}
	out := v.app.out
	_, err := io.WriteString(out, v.style.watchedLine(e, e.Time.UTC(), v.step, watched(e)))
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
	if data["trigger"] == "manual" { // a replay or an exercise is said: its calls reach nobody
		delete(data, "trigger")
	}
	e.Data = data
	return phrase(e)
}
