package state

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const someRun = "20260101-000000-aaaaaa"

func TestIndex(t *testing.T) {
	x := OpenIndex(filepath.Join(t.TempDir(), "joy"))
	list, err := x.List()
	require.NoError(t, err)
	require.Empty(t, list)
	require.NoError(t, x.Remove(someRun), "what is not there is gone")
	require.Error(t, x.Remove("../../x"))
	require.Error(t, x.Put(Live{Run: "../x"}))

	live := Live{Run: someRun, StateDir: "/p/.joy", Process: Self(), VM: []string{}, Started: time.Unix(1e9, 0).UTC()}
	require.NoError(t, x.Put(live))
	live.VM = []string{"qemu-1"}
	require.NoError(t, x.Put(live))
	other := live
	other.Run = "20260101-000001-aaaaaa"
	require.NoError(t, x.Put(other))
	list, err = x.List()
	require.NoError(t, err)
	require.Equal(t, []Live{live, other}, list)

	data, err := os.ReadFile(x.file(someRun))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(data), `{"run":"20260101-000000-aaaaaa","state_dir":"/p/.joy","pid":`), string(data))

	require.NoError(t, x.Remove(someRun))
	require.NoError(t, x.Remove(other.Run))
	entries, err := os.ReadDir(x.dir)
	require.NoError(t, err)
	require.Empty(t, entries, "no temporary file stays")
}

func TestIndexSaysWhatItCannotRead(t *testing.T) {
	x := OpenIndex(t.TempDir())
	good := Live{Run: someRun, Process: Self(), Started: time.Unix(1, 0).UTC()}
	require.NoError(t, x.Put(good))
	for name, data := range map[string]string{
		"20260101-000001-aaaaaa.json": "{",
		"20260101-000002-aaaaaa.json": `{"run":"20260101-000000-aaaaaa"}`,
		"20260101-000003-aaaaaa.json": strings.Repeat(" ", maxLive+1),
		".new-123":                    "left by a crash",
		"notes.json":                  "not joy's",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(x.dir, name), []byte(data), 0o600))
	}
	list, err := x.List()
	require.Len(t, list, 1)
	require.ErrorContains(t, err, "000001-aaaaaa.json")
	require.ErrorContains(t, err, "names the run 20260101-000000-aaaaaa")
	require.ErrorContains(t, err, "larger than 64 KiB")
	require.NotContains(t, err.Error(), "notes.json")
}

func TestAlive(t *testing.T) {
	self := Self()
	require.True(t, self.Alive())
	require.False(t, Process{}.Alive())
	if runtime.GOOS == "linux" {
		reused, rebooted := self, self
		reused.PIDStart, rebooted.BootID = "1", "another boot"
		require.False(t, reused.Alive(), "the pid was given to somebody else")
		require.False(t, rebooted.Alive())
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	require.NoError(t, cmd.Run())
	require.False(t, Process{PID: cmd.Process.Pid, BootID: self.BootID, PIDStart: "x"}.Alive())
}
