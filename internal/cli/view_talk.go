package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// maxTalk bounds what is read of a body to be shown.
const maxTalk = 32 << 20

// talk prints what a request to a model said last, or what was answered, as text. Bodies of other forms than the two that joy
// speaks are printed as they are.
func (v *ledgerView) talk(e verify.Entry) error {
	key, read := "request", account.Asked
	if e.Type == "model.replied" {
		key, read = "response", account.Told
	}
	m, _ := e.Data[key].(map[string]any)
	sum, _ := m["sha256"].(string)
	body, err := v.object(sum)
	out := v.app.out
	if err != nil {
		_, err = fmt.Fprintf(out, "    %s is not kept here\n", key)
		return err
	}
	text := read(body)
	if text == "" {
		text = string(body)
	}
	return quote(out, strings.NewReader(text), out.dim.Render("    "+key+" |")+" ")
}

// object reads a body that was kept, from the objects beside the run.
func (v *ledgerView) object(sum string) ([]byte, error) {
	store, err := artifact.OpenExisting(filepath.Join(filepath.Dir(v.logs), "..", "..", "objects"))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	r, err := store.Open(sum)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxTalk))
}
