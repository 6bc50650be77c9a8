package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// liveView renders the ledger for a person while the run goes on: a line an entry, cut to the terminal's width.
type liveView struct {
	app   *app
	style *ledgerView
	rest  []byte
}

func (a *app) liveView() io.Writer {
	return &liveView{app: a, style: &ledgerView{app: a, opts: showOptions{zone: time.UTC}}}
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
var hidden = map[string]bool{"token.issued": true, "token.revoked": true, "sandbox.requested": true}

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
	step := fmt.Sprintf("%-12s", term.Line(e.Step))
	room := out.width - len(head) - len(step) - 17 - 6
	_, err := fmt.Fprintf(out, "%s  %s  %s  %s\n", out.dim.Render(head), step, what, ansi.Truncate(term.Line(phrase(e)), max(room, 20), "…"))
	return err
}
