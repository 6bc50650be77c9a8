package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

func judge(t *testing.T, lines, seal []byte) verify.Verdict {
	t.Helper()
	return verify.Judge(check(t, lines), verify.Evidence{Seal: seal})
}

// A writer seals what it wrote: a line that was changed behind its back is not under the seal.
func TestSealIsOfWhatWasWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open ledger cannot be replaced here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, ledger.FileName)
	w, err := ledger.Create(dir, runName, plan, ledger.Options{Now: ticking()})
	require.NoError(t, err)
	for _, r := range story {
		_, err := w.Append(r.typ, r.step, r.data)
		require.NoError(t, err)
	}
	edited := bytes.Replace(read(t, dir, ledger.FileName), []byte("evil.example"), []byte("good.example"), 1)
	require.NoError(t, os.WriteFile(path, edited, 0o600))
	seal, err := w.Seal(fixedKey(t, "acme"), nil)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.EqualValues(t, len(story)+1, seal.Entries)
	got := judge(t, read(t, dir, ledger.FileName), seal.Note)
	require.Equal(t, verify.Broken, got.State)
	require.Equal(t, 8, got.Line)
}

func TestSealRefuses(t *testing.T) {
	key := fixedKey(t, "acme")
	w, err := ledger.Create(t.TempDir(), runName, plan, ledger.Options{})
	require.NoError(t, err)
	_, err = w.Append(ledger.RunStarted, "", nil)
	require.NoError(t, err)
	_, err = w.Seal(key, nil)
	require.ErrorContains(t, err, "only a finished run is sealed")
	_, err = w.Append(ledger.RunFinished, "", nil)
	require.NoError(t, err)
	_, err = w.Seal(key, nil)
	require.NoError(t, err)
	_, err = w.Seal(key, nil)
	require.ErrorContains(t, err, "the ledger is sealed")
	require.NoError(t, w.Close())
	_, err = w.Seal(key, nil)
	require.ErrorIs(t, err, ledger.ErrClosed)
}

// Whoever dies between run.sealed and the note leaves a seal to be written, and no more than that.
func TestReseal(t *testing.T) {
	key, other := fixedKey(t, "acme"), fixedKey(t, "another")
	lines, seal := sealed(t, runName, story, key)
	dir := left(t, lines)
	require.Equal(t, verify.Incomplete, judge(t, lines, nil).State)
	noted := ledger.Seal{Entries: int64(len(story)) + 1, Head: headOf(lines)}
	for _, other := range []ledger.Seal{{}, {Entries: noted.Entries, Head: plan}, {Entries: 3, Head: noted.Head}} {
		_, err := ledger.Reseal(dir, runName, plan, key, other)
		require.ErrorContains(t, err, "it ends otherwise than joy noted")
	}

	_, err := ledger.Reopen(dir, runName, plan, ledger.Options{})
	require.ErrorIs(t, err, ledger.ErrSealed)
	_, err = ledger.Reseal(dir, runName, plan, other, noted)
	require.ErrorContains(t, err, "names another key")
	require.NoFileExists(t, filepath.Join(dir, ledger.SealName))
	_, err = ledger.Reseal(dir, runName, plan, key, noted)
	require.NoError(t, err)
	require.Equal(t, string(seal), string(read(t, dir, ledger.SealName)), "the same bytes as from the writer")
	require.Equal(t, verify.Complete, judge(t, lines, seal).State)

	_, foreign := sealed(t, "20261124-190000-aaaaaa", story, key)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ledger.SealName), foreign, 0o600))
	_, err = ledger.Reseal(dir, runName, plan, key, noted)
	require.NoError(t, err)
	require.Equal(t, foreign, read(t, dir, ledger.SealName), "a seal that is there stays, for verify to judge")

	for name, bad := range map[string][]byte{
		"not sealed": write(t, story),
		"torn":       append(bytes.Clone(lines), "{"...),
		"edited":     bytes.Replace(lines, []byte("evil"), []byte("good"), 1),
		"empty":      nil,
	} {
		_, err = ledger.Reseal(left(t, bad), runName, plan, key, noted)
		require.Error(t, err, name)
	}
}

// What a crash left is sealed as such, whether the run had finished or not; and it is not complete, for whoever can write
// the file could have finished it.
func TestSealOfWhatWasRecovered(t *testing.T) {
	for name, c := range map[string]struct {
		left  []record
		state verify.State
	}{"finished": {story, verify.Incomplete}, "interrupted": {story[:6], verify.Incomplete}} {
		dir := left(t, write(t, c.left))
		w, err := ledger.Reopen(dir, runName, plan, ledger.Options{Now: ticking()})
		require.NoError(t, err, name)
		_, err = w.Seal(fixedKey(t, "acme"), nil)
		require.NoError(t, err, name)
		require.NoError(t, w.Close(), name)
		got := judge(t, read(t, dir, ledger.FileName), read(t, dir, ledger.SealName))
		require.Equal(t, c.state, got.State, name)
		require.NotNil(t, got.Seal, name)
		require.True(t, got.Recovered, name)
	}
}

// The two programs' trees are one, at every size that ends a subtree and beside it.
func TestRoots(t *testing.T) {
	key := fixedKey(t, "acme")
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 13, 14, 30} {
		records := []record{{ledger.RunStarted, "", nil}}
		for range n {
			records = append(records, record{ledger.FileRead, "s", ledger.Data{"path": strings.Repeat("x", n)}})
		}
		lines, seal := sealed(t, runName, append(records, record{ledger.RunFinished, "", nil}), key)
		require.Equal(t, verify.Complete, judge(t, lines, seal).State, n)
		for seq := range int64(n + 3) {
			p, _, err := verify.Prove(bytes.NewReader(lines), seq+1, verify.Options{})
			require.NoError(t, err)
			p.Seal = string(seal)
			e, _, err := p.Check()
			require.NoError(t, err)
			require.Equal(t, seq+1, e.Seq)
		}
		p, _, err := verify.Prove(bytes.NewReader(lines), int64(n+4), verify.Options{})
		require.NoError(t, err)
		require.Nil(t, p)
	}
}

// A note that cannot be written leaves a ledger that says what it lacks, and can be given it later.
func TestSealThatCannotBeWritten(t *testing.T) {
	key, dir := fixedKey(t, "acme"), t.TempDir()
	blocked := filepath.Join(dir, ledger.SealName, "in the way")
	require.NoError(t, os.MkdirAll(blocked, 0o700))
	w, err := ledger.Create(dir, runName, plan, ledger.Options{Now: ticking()})
	require.NoError(t, err)
	for _, r := range story {
		_, err := w.Append(r.typ, r.step, r.data)
		require.NoError(t, err)
	}
	var noted ledger.Seal
	_, err = w.Seal(key, func(s ledger.Seal) { noted = s })
	require.ErrorContains(t, err, "write the seal")
	require.NoError(t, w.Close())
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ledger.SealName)))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no half of a note stays")
	require.Contains(t, judge(t, read(t, dir, ledger.FileName), nil).Problem, "its seal is not here")
	seal, err := ledger.Reseal(dir, runName, plan, key, noted)
	require.NoError(t, err)
	require.Equal(t, verify.Complete, judge(t, read(t, dir, ledger.FileName), seal.Note).State)
}
