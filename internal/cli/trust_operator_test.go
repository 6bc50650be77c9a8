package cli

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/signature"
)

// The machine's policy and the user's own are both satisfied, or the plan is refused.
func TestJudge(t *testing.T) {
	a, _, _ := testApp(t)
	require.NoError(t, a.prepare(newRoot(a)))
	machine, user := filepath.Join(t.TempDir(), "policy.yaml"), filepath.Join(a.cfg.Dirs.Config, "policy.yaml")
	a.env.OperatorPolicy = machine
	require.NoError(t, os.MkdirAll(a.cfg.Dirs.Config, 0o700))
	write := func(path, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, []byte("version: 1\n"+text+"\n"), 0o600))
	}
	const project = "../../examples/repo-report"
	lock, err := os.ReadFile(filepath.Join(project, build.LockName))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), build.LockName)
	require.NoError(t, os.WriteFile(path, lock, 0o600))
	target, err := readTarget(project, path, build.LockName)
	require.NoError(t, err)

	got, err := a.judge(target, path, "microvm")
	require.NoError(t, err)
	require.Empty(t, got, "nobody bounds anything")

	write(machine, "limits: {cpus: 64}")
	got, err = a.judge(target, path, "microvm")
	require.NoError(t, err)
	require.Equal(t, digest.Bytes([]byte("version: 1\nlimits: {cpus: 64}\n")), got)

	write(user, "limits: {cpus: 1}")
	_, err = a.judge(target, path, "microvm")
	require.ErrorContains(t, err, "policy.cpus is 2, and the operator allows 1 ("+user+":2:10)")
	require.Equal(t, 5, exitCode(err))

	key, err := signature.NewKey(filepath.Join(t.TempDir(), "key"), "alice", rand.Reader)
	require.NoError(t, err)
	write(user, "signatures: ['"+key.Public.String()+"']")
	_, err = a.judge(target, path, "microvm")
	require.Equal(t, fault.Policy, fault.KindOf(err))
	sig, err := signature.Sign(target.plan, key, nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+signature.Suffix, sig, 0o600))
	_, err = a.judge(target, path, "microvm")
	require.NoError(t, err)
	_, err = a.judge(target, "", "microvm")
	require.Equal(t, fault.Policy, fault.KindOf(err), "the plan of a past run has no signature")

	write(machine, "limit: {cpus: 64}")
	_, err = a.judge(target, path, "microvm")
	require.Equal(t, 2, exitCode(err))
	require.NoError(t, os.Chmod(machine, 0o666))
	_, err = a.judge(target, path, "microvm")
	require.Equal(t, 5, exitCode(err), "what cannot be relied on allows nothing")
}
