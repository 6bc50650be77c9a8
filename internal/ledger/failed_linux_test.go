package ledger

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func started(t *testing.T) *Writer {
	t.Helper()
	w, err := Create(t.TempDir(), "r", "sha256:"+strings.Repeat("ab", 32), Options{})
	require.NoError(t, err)
	_, err = w.Effect(RunStarted, "", nil)
	require.NoError(t, err)
	return w
}

func TestAfterAFailedWriteEveryCallFails(t *testing.T) {
	w := started(t)
	disk := w.file
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	w.file = full
	_, err = w.Effect(StepStarted, "a", nil)
	require.ErrorIs(t, err, unix.ENOSPC)
	body, err := os.ReadFile(disk.Name())
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(body), "\n"))

	w.file = disk // there is room again, but half a line may be on the disk
	require.NoError(t, full.Close())
	_, err = w.Append(StepStarted, "b", nil)
	require.ErrorIs(t, err, unix.ENOSPC)
	require.ErrorIs(t, w.Close(), unix.ENOSPC)
}

func TestAfterAFailedSyncEveryCallFails(t *testing.T) {
	w := started(t)
	r, pipe, err := os.Pipe() // takes writes, refuses fdatasync
	require.NoError(t, err)
	disk := w.file
	w.file = pipe
	_, err = w.Effect(StepStarted, "a", nil)
	require.ErrorIs(t, err, unix.EINVAL)

	w.file = disk
	_, err = w.Append(StepStarted, "b", nil)
	require.ErrorIs(t, err, unix.EINVAL)
	require.ErrorIs(t, w.Close(), unix.EINVAL)
	require.NoError(t, r.Close())
	require.NoError(t, pipe.Close())
}
