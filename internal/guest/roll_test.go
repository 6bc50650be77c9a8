//go:build linux

package guest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// rolledUp collects 50 files of 10,000 bytes and one large one, and gives what went through the session and the number
// of files laid out. What a host would read is held to be the same as without.
func rolledUp(t *testing.T, change func(*roll)) (_ *bytes.Buffer, laid int) {
	t.Helper()
	ws, out := newOut(t)
	for i := range 50 {
		require.NoError(t, os.WriteFile(filepath.Join(out, fmt.Sprintf("f%02d", i)), bytes.Repeat([]byte{'a' + byte(i%26)}, 10_000), 0o600))
	}
	want := collected(t, ws, wide, nil)

	session, c := rolled(t, ws, change)
	require.Equal(t, want, words(t, spliced(t, session.Bytes(), c.beside)))
	return session, c.laid
}

// rolled collects what is in the workspace, with a directory of its own for files beside the session.
func rolled(t *testing.T, ws string, change func(*roll)) (*bytes.Buffer, *collector) {
	t.Helper()
	session, c := &bytes.Buffer{}, newCollector(nil, wide)
	c.beside = t.TempDir()
	r := newRoll(c, session)
	change(r)
	require.NoError(t, c.walk(ws))
	require.NoError(t, r.flush())
	return session, c
}

// spliced puts what lies beside in its place.
func spliced(t *testing.T, session []byte, beside string) *bytes.Buffer {
	t.Helper()
	var all bytes.Buffer
	in, out := guestproto.NewFrames(bytes.NewBuffer(session)), guestproto.NewFrames(&all)
	for {
		kind, body, err := in.Read()
		if err != nil {
			return &all
		}
		if kind != guestproto.FrameBeside {
			require.NoError(t, out.Write(kind, body))
			continue
		}
		var head guestproto.FileHeader
		require.NoError(t, json.Unmarshal(body, &head))
		frames, err := os.ReadFile(filepath.Join(beside, guestproto.BesideOut(head.Beside)))
		require.NoError(t, err)
		require.Len(t, frames, int(head.Size))
		all.Write(frames)
	}
}

func TestRoll(t *testing.T) {
	t.Run("much", func(t *testing.T) {
		session, laid := rolledUp(t, func(*roll) {})
		require.Equal(t, 1, laid)
		require.Less(t, session.Len(), 100)
	})
	t.Run("no place", func(t *testing.T) {
		session, laid := rolledUp(t, func(r *roll) { r.beside = filepath.Join(r.beside, "none") })
		require.Zero(t, laid)
		require.Greater(t, session.Len(), 500_000)
	})
	t.Run("little room", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("mounting a small disk needs root")
		}
		small := t.TempDir()
		require.NoError(t, unix.Mount("small", small, "tmpfs", 0, "size=4m"))
		t.Cleanup(func() { require.NoError(t, unix.Unmount(small, 0)) })
		session, laid := rolledUp(t, func(r *roll) { r.beside = small })
		require.Zero(t, laid, "it would fit, and a file of the most would not")
		require.Greater(t, session.Len(), 500_000)
	})
	t.Run("a disk that is full at once", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		session, _ := rolledUp(t, func(r *roll) { r.file = full })
		require.Greater(t, session.Len(), 500_000)
	})
	t.Run("a disk that is full later", func(t *testing.T) {
		session, laid := rolledUp(t, func(r *roll) {
			r.file, r.number, r.laid = noLonger(t, 300_000, filepath.Join(r.beside, guestproto.BesideOut(1))), 1, 1
		})
		require.Equal(t, 1, laid)
		require.Less(t, session.Len(), 300_000)
	})
	t.Run("little", func(t *testing.T) {
		ws, out := newOut(t)
		require.NoError(t, os.WriteFile(filepath.Join(out, "f"), []byte(strings.Repeat("x", 1000)), 0o600))
		session, c := rolled(t, ws, func(*roll) {})
		require.Zero(t, c.laid)
		require.Equal(t, []string{"f=" + strings.Repeat("x", 1000)}, words(t, session))
	})
}

// noLonger is a file that cannot grow beyond size, like one on a disk that has no more room.
func noLonger(t *testing.T, size int64, name string) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("full", unix.MFD_ALLOW_SEALING)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Close(fd)) })
	require.NoError(t, unix.Ftruncate(fd, size))
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_GROW)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(fmt.Sprintf("/proc/self/fd/%d", fd), name))
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	require.NoError(t, err)
	return f
}
