//go:build linux

package microvm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTrimSnapshots(t *testing.T) {
	cache := t.TempDir()
	trimmed, err := TrimSnapshots(cache, time.Now(), nil, false)
	require.NoError(t, err)
	require.Empty(t, trimmed)
	require.NoDirExists(t, snapshotDir(cache), "looking makes nothing")

	const live, gone = "1111111111111111", "2222222222222222"
	longAgo := time.Now().Add(-90 * 24 * time.Hour)
	name := func(image, digit string) string {
		return image + "." + strings.Repeat("a", 32) + "." + strings.Repeat(digit, 64) + ".ram"
	}
	s := store{dir: snapshotDir(cache)}
	require.NoError(t, os.Mkdir(s.dir, 0o700))
	for file, old := range map[string]bool{
		name(live, "1"): false, name(live, "2"): true, name(gone, "3"): false, partName: false, "lock": true, "qemu.json": true,
		".qemu.json-1": true, ".qemu.json-2": false,
	} {
		path := filepath.Join(s.dir, file)
		require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o400))
		if old {
			require.NoError(t, os.Chtimes(path, longAgo, longAgo))
		}
	}
	trim := func(dryRun bool) (names []string) {
		trimmed, err := TrimSnapshots(cache, longAgo.Add(time.Hour), []string{"sha256:" + live + strings.Repeat("0", 48)}, dryRun)
		require.NoError(t, err)
		for _, snap := range trimmed {
			require.EqualValues(t, 10, snap.Size)
			require.NotZero(t, snap.Used)
			names = append(names, filepath.Base(snap.Path))
		}
		return names
	}
	want := []string{name(gone, "3"), name(live, "2"), ".qemu.json-1"}

	unlock, err := s.lock()
	require.NoError(t, err)
	require.Equal(t, want, trim(true), "what is being made is its maker's")
	unlock()
	want = append(want, partName)
	require.Equal(t, want, trim(true))
	require.FileExists(t, filepath.Join(s.dir, want[0]), "a dry run removes nothing")
	require.Equal(t, want, trim(false))
	require.Empty(t, trim(false))
	left, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	require.Len(t, left, 4)
	require.FileExists(t, filepath.Join(s.dir, name(live, "1")))
	unlock, err = s.lock()
	require.NoError(t, err)
	require.NotNil(t, unlock, "it is not held on to")
	unlock()
}
