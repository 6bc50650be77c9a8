package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

func left(t *testing.T, b []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ledger.FileName), b, 0o600))
	return dir
}

func TestReopenRefuses(t *testing.T) {
	whole := write(t, story)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	sealed := write(t, append(story[:len(story):len(story)], record{typ: ledger.RunSealed}))
	for name, c := range map[string]struct {
		bytes     []byte
		run, plan string
		line      int
		want      string
	}{
		"empty":        {nil, "20261124-180300-k3fq2a", plan, 0, "no whole entry"},
		"only torn":    {whole[:40], "20261124-180300-k3fq2a", plan, 0, "no whole entry"},
		"sealed":       {sealed, "20261124-180300-k3fq2a", plan, 0, "is sealed"},
		"after seal":   {append(bytes.Clone(sealed), "{"...), "20261124-180300-k3fq2a", plan, 0, "is sealed"},
		"other run":    {whole, "run_other", plan, 1, "not of run run_other"},
		"other plan":   {whole, "20261124-180300-k3fq2a", "sha256:" + strings.Repeat("cd", 32), 1, "prev"},
		"edited":       {bytes.Replace(whole, []byte("evil.example"), []byte("good.example"), 1), "20261124-180300-k3fq2a", plan, 8, "hash does not match"},
		"removed":      {bytes.Join(append(lines[:3:3], lines[4:]...), nil), "20261124-180300-k3fq2a", plan, 4, "prev"},
		"a short line": {append(bytes.Clone(lines[0]), "{}\n"...), "20261124-180300-k3fq2a", plan, 2, "too short"},
		"a blank line": {append(bytes.Clone(lines[0]), "\n"...), "20261124-180300-k3fq2a", plan, 2, "too short"},
		"binary":       {append(bytes.Clone(lines[0]), bytes.Repeat([]byte{0, '\n'}, 300)...), "20261124-180300-k3fq2a", plan, 2, "too short"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := left(t, c.bytes)
			_, err := ledger.Reopen(dir, c.run, c.plan, ledger.Options{})
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.Ledger, fault.KindOf(err))
			require.Equal(t, c.line, fault.All(err)[0].Line)
			after, err := os.ReadFile(filepath.Join(dir, ledger.FileName))
			require.NoError(t, err)
			require.Equal(t, string(c.bytes), string(after), "a refused ledger stays as it was")
		})
	}
	_, err := ledger.Reopen(t.TempDir(), "20261124-180300-k3fq2a", plan, ledger.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Wherever a crash cuts the last line, the chain goes on and the torn bytes are kept.
func TestReopenCutsTheTornTail(t *testing.T) {
	whole := write(t, story[:3])
	start := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for cut := start + 1; cut < len(whole); cut += 7 {
		dir := left(t, whole[:cut])
		w, err := ledger.Reopen(dir, "20261124-180300-k3fq2a", plan, ledger.Options{Now: ticking()})
		require.NoError(t, err)
		_, err = w.Append(ledger.RunFinished, "", nil)
		require.NoError(t, err)
		require.NoError(t, w.Close())

		torn, err := os.ReadFile(filepath.Join(dir, ledger.TornName))
		require.NoError(t, err)
		require.Equal(t, string(whole[start:cut]), string(torn))
		b, err := os.ReadFile(filepath.Join(dir, ledger.FileName))
		require.NoError(t, err)
		rep := check(t, b)
		require.Equal(t, verify.Complete, rep.State, rep.Problem)
		require.EqualValues(t, 4, rep.Entries)
		require.Contains(t, string(b), fmt.Sprintf(`"type":"ledger.recovered","data":{"bytes":%d,"sha256":"sha256:%x"}`,
			cut-start, sha256.Sum256(torn)))
	}
}

func TestReopenOfAWholeLedgerAddsNothing(t *testing.T) {
	whole := write(t, story)
	dir := left(t, whole)
	w, err := ledger.Reopen(dir, "20261124-180300-k3fq2a", plan, ledger.Options{})
	require.NoError(t, err)
	_, err = w.Append(ledger.FileRead, "", nil)
	require.ErrorContains(t, err, "has finished")
	require.NoError(t, w.Close())
	require.NoFileExists(t, filepath.Join(dir, ledger.TornName))
	after, err := os.ReadFile(filepath.Join(dir, ledger.FileName))
	require.NoError(t, err)
	require.Equal(t, whole, after)
}

func TestTimeDoesNotGoBackAcrossReopen(t *testing.T) {
	dir := left(t, write(t, story[:6]))
	w, err := ledger.Reopen(dir, "20261124-180300-k3fq2a", plan, ledger.Options{Now: ticking()}) // starts at the first entry's time
	require.NoError(t, err)
	_, err = w.Append(ledger.RunResumed, "", nil)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	b, err := os.ReadFile(filepath.Join(dir, ledger.FileName))
	require.NoError(t, err)
	require.Equal(t, verify.Incomplete, check(t, b).State)
	require.EqualValues(t, 7, check(t, b).Entries)
}
