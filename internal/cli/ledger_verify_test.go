package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/build"
)

// vector is one of the files that any verifier is tried on.
func vector(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "ledger", name))
	require.NoError(t, err)
	return b
}

// A chain that holds is no proof of where it lies: a good run's ledger must not pass for another run's, nor for that
// of a plan it did not run.
func TestVerifyAMisplacedLedger(t *testing.T) {
	ledger, seal := vector(t, "sealed.jsonl"), vector(t, "sealed.note")
	lock, err := os.ReadFile("../../docs/testdata/hello/joy.lock") // of a plan that the ledger does not name
	require.NoError(t, err)
	const own, other = "20261124-180300-k3fq2a", "20261124-180300-aaaaaa"
	for name, c := range map[string]struct {
		dir  string
		lock []byte
		want string
	}{
		"in its own directory":   {filepath.Join(".joy", "runs", own), nil, ""},
		"somewhere else":         {"kept", nil, ""},
		"beside another lock":    {"kept", lock, ""},
		"in another's directory": {filepath.Join(".joy", "runs", other), nil, "it is the ledger of run " + own + ", in the directory of run " + other},
		"of another plan":        {filepath.Join(".joy", "runs", own), lock, "and the plan kept with it is sha256:"},
	} {
		t.Run(name, func(t *testing.T) {
			a, _, _ := testApp(t)
			dir := filepath.Join(a.dir, c.dir)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			file := filepath.Join(dir, ledgerFile)
			require.NoError(t, os.WriteFile(file, ledger, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, sealFile), seal, 0o600))
			if c.lock != nil {
				require.NoError(t, os.WriteFile(filepath.Join(dir, build.LockName), c.lock, 0o600))
			}
			err := a.execute(t.Context(), []string{"ledger", "verify", file})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.Equal(t, 7, exitCode(err))
		})
	}
}
