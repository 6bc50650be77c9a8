package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/state"
)

func testRecord(t *testing.T, userState string) *record {
	t.Helper()
	st, err := state.Open(t.TempDir(), "")
	require.NoError(t, err)
	objects, err := artifact.Open(st.ObjectsDir())
	require.NoError(t, err)
	r := &record{state: st, objects: objects, index: state.OpenIndex(userState)}
	t.Cleanup(r.close)
	return r
}

// A run that cannot be entered into the index has not begun: ledger list and verify must not meet an empty ledger.
func TestBeginLeavesNothingWhenItFails(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "a file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	r := testRecord(t, blocked)
	err := r.begin(&target{lock: []byte("{}"), plan: &plan.Plan{Digest: digest.Bytes(nil)}}, io.Discard)
	require.ErrorContains(t, err, "index of live runs")
	left, err := os.ReadDir(r.state.RunsDir())
	require.NoError(t, err)
	require.Empty(t, left)
}

// An object that a crash or a copied project spoiled is put right by the bytes that were checked.
func TestKeepBundleFileReplacesWhatIsSpoiled(t *testing.T) {
	r := testRecord(t, t.TempDir())
	good := []byte("echo good\n")
	obj, err := r.objects.PutBytes(good)
	require.NoError(t, err)
	hex := obj.Digest[len("sha256:"):]
	path := filepath.Join(r.state.ObjectsDir(), "sha256", hex[:2], hex)
	for name, bad := range map[string]string{"same size": "echo evil\n", "torn": "echo", "empty": ""} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600), name)
		require.NoError(t, r.keepBundleFile(digest.Content{File: digest.File{SHA256: hex}, Data: good}), name)
		f, err := r.objects.Open(obj.Digest)
		require.NoError(t, err, name)
		got, err := io.ReadAll(f)
		require.NoError(t, err, name)
		require.NoError(t, f.Close(), name)
		require.Equal(t, good, got, name)
	}
}

// A lock edited by hand may pin any file of the project; one of any size must not be taken into memory.
func TestDriftOfAHugeFile(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "joy.yaml")
	require.NoError(t, os.WriteFile(huge, nil, 0o600))
	require.NoError(t, os.Truncate(huge, 1<<40))
	p := &plan.Plan{Agent: plan.Agent{Spec: plan.File{Path: "joy.yaml", Mode: digest.ModePlain, SHA256: hexOfNothing}}}
	err := (&target{dir: dir, plan: p}).checkDrift(nil)
	require.ErrorContains(t, err, "larger than 64 MiB")
	require.Equal(t, fault.Input, fault.KindOf(err))
}

const hexOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
