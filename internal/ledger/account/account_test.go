package account_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

var plan = "sha256:" + strings.Repeat("ab", 32)

// began is when each ledger of these tests begins; every entry is a second after the one before.
var began = time.Date(2026, 11, 24, 18, 3, 0, 0, time.UTC)

type record struct {
	typ  ledger.Type
	step string
	data ledger.Data
}

// write makes a ledger of the records, as a run would.
func write(t testing.TB, records []record) []byte {
	t.Helper()
	dir := t.TempDir()
	at := began.Add(-time.Second)
	now := func() time.Time { at = at.Add(time.Second); return at }
	w, err := ledger.Create(dir, "20261124-180300-k3fq2a", plan, ledger.Options{Now: now})
	require.NoError(t, err)
	for _, r := range records {
		_, err := w.Append(r.typ, r.step, r.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	b, err := os.ReadFile(filepath.Join(dir, ledger.FileName))
	require.NoError(t, err)
	return b
}

// each gives fn the entries of a ledger that holds, and returns the starts without an end.
func each(t testing.TB, lines []byte, fn func(verify.Entry)) []verify.Open {
	t.Helper()
	rep, err := verify.Check(bytes.NewReader(lines), verify.Options{Each: fn})
	require.NoError(t, err)
	require.NotEqual(t, verify.Broken, rep.State, rep.Problem)
	return rep.Unknown
}

func body(text string) ledger.Data {
	return ledger.Data{"bytes": len(text), "sha256": "sha256:" + strings.Repeat(text[:1], 64)}
}
