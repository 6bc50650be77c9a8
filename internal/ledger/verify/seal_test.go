package verify_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

func vector(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "ledger", name))
	require.NoError(t, err)
	return b
}

// FuzzSeal: whatever passes for the seal of a ledger has the text that was signed, to the byte.
func FuzzSeal(f *testing.F) {
	good := vector(f, "sealed.note")
	for _, name := range []string{"sealed.note", "other-run.note", "seal-size.note", "seal-text.note", "limits.note"} {
		f.Add(vector(f, name))
	}
	text, _, _ := bytes.Cut(good, []byte("\n\n"))
	rep, err := verify.Check(bytes.NewReader(vector(f, "sealed.jsonl")), verify.Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, seal []byte) {
		got := verify.Judge(rep, verify.Evidence{Seal: seal})
		require.Equal(t, got.State == verify.Complete, got.Seal != nil)
		if got.Seal != nil {
			require.True(t, bytes.HasPrefix(seal, append(text, "\n\n"...)), "%q", seal)
		} else {
			require.Equal(t, verify.Broken, got.State)
			require.NotEmpty(t, got.Problem)
		}
	})
}

// FuzzProof: whatever a proof shows is a line of the ledger under the seal that it carries.
func FuzzProof(f *testing.F) {
	for _, name := range []string{"proof-first.json", "proof-middle.json", "proof-last.json", "proof-short.json", "proof-other-place.json"} {
		f.Add(vector(f, name))
	}
	lines := bytes.Split(vector(f, "sealed.jsonl"), []byte("\n"))
	seal, err := verify.ParseSeal(vector(f, "sealed.note"))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		var p verify.Proof
		if json.Unmarshal(text, &p) != nil {
			return
		}
		e, under, err := p.Check()
		if err == nil && under.Root == seal.Root {
			require.Equal(t, string(lines[e.Seq-1]), p.Line)
		}
	})
}
