package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/state"
)

func TestGranted(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want int64
	}{
		"empty":             {"", 0},
		"another user":      {"root:100000:65536\n", 0},
		"a longer name":     {"annette:100000:65536\n", 0},
		"not a number":      {"anne:100000:many\nanne\n::\n", 0},
		"by name":           {"x:1:9\nanne:100000:65536\n", 65536},
		"by id, no newline": {"1000:100000:65536", 65536},
		"the largest":       {"anne:1:10\nanne:100000:70000\nanne:1:5\n", 70000},
		"very long":         {strings.Repeat("x", 2<<20) + "\nanne:1:65536\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "subuid")
			require.NoError(t, os.WriteFile(file, []byte(tc.text), 0o600))
			got, err := granted(file, "anne", "1000")
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	_, err := granted(filepath.Join(t.TempDir(), "gone"), "anne", "1000")
	require.Error(t, err)
}

func TestStrays(t *testing.T) {
	dir := t.TempDir()
	says := map[string]error{}
	m := Machine{StateDir: dir, VMAlive: func(_ context.Context, id string) (bool, error) { return strings.HasSuffix(id, "lives"), says[id] }}
	look := func() Check { return strays(t.Context(), m) }
	require.Equal(t, OK, look().Status)
	index := state.OpenIndex(dir)
	require.NoError(t, index.Put(state.Live{Run: "20261129-120000-aaaaaa", Process: state.Self(), VM: []string{"qemu:lives"}}))
	require.Equal(t, OK, look().Status, "its joy lives")

	cmd := exec.CommandContext(t.Context(), "true")
	require.NoError(t, cmd.Run())
	dead := state.Self()
	dead.PID = cmd.Process.Pid
	for _, tc := range []struct {
		vms  []string
		want string
	}{
		{nil, "runs whose joy has died: 1; no VM of them lives"},
		{[]string{"qemu:1:1"}, "runs whose joy has died: 1; no VM of them lives"},
		{[]string{"qemu:lives"}, "VMs that live on without their joy: 1"},
		{[]string{"e2b://a", "e2b://b", "qemu:1:1"}, "runs whose joy has died: 1; of VMs of which nobody can tell whether they live: 2"},
		{[]string{"e2b://a", "e2b://lives"}, "VMs that live on without their joy: 1"},
	} {
		says["e2b://a"], says["e2b://b"] = errors.New("no key"), errors.New("no answer")
		require.NoError(t, index.Put(state.Live{Run: "20261129-120000-bbbbbb", Process: dead, VM: tc.vms}))
		require.Equal(t, Check{"strays", Warn, tc.want, "joy gc"}, look())
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "live", "20261129-120000-cccccc.json"), []byte("{"), 0o600))
	require.Equal(t, Warn, look().Status)
}

func TestMemory(t *testing.T) {
	require.Equal(t, Fail, memory(Machine{ScratchDir: "/no/such/place"}).Status)
	require.Contains(t, memory(Machine{ScratchDir: t.TempDir(), MaxVMs: 3}).Detail, "max_vms is 3")
}
