package image

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// entry is one file of a newc archive, read back by the format's own text.
type entry struct {
	mode, links, size, major, minor int64
	data                            string
}

func readCPIO(t *testing.T, b []byte) (names []string, entries map[string]entry) {
	t.Helper()
	entries = map[string]entry{}
	for at := 0; ; {
		require.Equal(t, "070701", string(b[at:at+6]))
		require.Zero(t, at%4)
		field := func(n int) int64 {
			v, err := strconv.ParseInt(string(b[at+6+8*n:at+14+8*n]), 16, 64)
			require.NoError(t, err)
			return v
		}
		name := string(b[at+110 : at+110+int(field(11))-1])
		e := entry{field(1), field(4), field(6), field(9), field(10), ""}
		require.Zero(t, field(2)+field(3)+field(5), "owner and time")
		data := (at + 110 + len(name) + 1 + 3) &^ 3
		e.data = string(b[data : data+int(e.size)])
		at = (data + int(e.size) + 3) &^ 3
		if name == "TRAILER!!!" {
			require.Len(t, b, at)
			return names, entries
		}
		names, entries[name] = append(names, name), e
	}
}

func TestInitrd(t *testing.T) {
	img := put(t, t.TempDir(), "tiny", nil)
	var a, b bytes.Buffer
	require.NoError(t, Initrd(img, []byte("guest"), &a))
	require.NoError(t, Initrd(img, []byte("guest"), &b))
	require.Equal(t, a.Bytes(), b.Bytes())
	names, entries := readCPIO(t, a.Bytes())
	require.Equal(t, []string{
		"dev", "dev/console", "dev/null", "modules", "modules/00-virtio.ko",
		"vm", "vm/usr", "vm/usr/local", "vm/usr/local/bin", InitPath[1:],
	}, names)
	require.Equal(t, entry{0o100755, 1, 5, 0, 0, "guest"}, entries[InitPath[1:]])
	require.Equal(t, entry{0o020600, 1, 0, 5, 1, ""}, entries["dev/console"])
	require.Equal(t, entry{0o100644, 1, 6, 0, 0, "module"}, entries["modules/00-virtio.ko"])
	require.Equal(t, entry{0o040755, 2, 0, 0, 0, ""}, entries["dev"])
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestInitrdFails(t *testing.T) {
	img := put(t, t.TempDir(), "tiny", nil)
	require.ErrorContains(t, Initrd(img, nil, full{}), "no space")
	require.NoError(t, os.Remove(filepath.Join(img.Dir, "modules", "00-virtio.ko")))
	require.Equal(t, fault.Drift, fault.KindOf(Initrd(img, nil, &bytes.Buffer{})))
	cache := t.TempDir()
	_, err := InitrdPath(cache, img, nil)
	require.Equal(t, fault.Drift, fault.KindOf(err))
	left, err := os.ReadDir(filepath.Join(cache, "initrd"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestInitrdPath(t *testing.T) {
	cache := t.TempDir()
	img, other := put(t, cache, "tiny", nil), put(t, cache, "base", nil)
	paths := make([]string, 8)
	var wg sync.WaitGroup
	for i := range paths {
		wg.Go(func() { paths[i], _ = InitrdPath(cache, img, []byte("guest")) })
	}
	wg.Wait()
	var want bytes.Buffer
	require.NoError(t, Initrd(img, []byte("guest"), &want))
	for _, p := range paths {
		require.Equal(t, paths[0], p)
	}
	got, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	require.Equal(t, want.Bytes(), got)

	guest, err := InitrdPath(cache, img, []byte("another guest"))
	require.NoError(t, err)
	image, err := InitrdPath(cache, other, []byte("guest"))
	require.NoError(t, err)
	require.NotEqual(t, paths[0], guest)
	require.NotEqual(t, paths[0], image)
	files, err := os.ReadDir(filepath.Join(cache, "initrd"))
	require.NoError(t, err)
	require.Len(t, files, 3)
}

func TestNoGuest(t *testing.T) {
	_, err := Guest("sparc")
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Platform, f.Kind)
	require.Equal(t, "make build", f.Hint)
}
