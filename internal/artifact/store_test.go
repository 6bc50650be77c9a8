package artifact_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/fault"
)

func open(t *testing.T) (s *artifact.Store, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "objects")
	s, err := artifact.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, dir
}

func nameOf(b string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(b))) }

// file is where the object of a digest lies.
func file(dir, digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return filepath.Join(dir, "sha256", hex[:2], hex)
}

// files lists what lies under dir, without directories.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, p)
		}
		return err
	}))
	return names
}

func TestNamesThatAreNoDigest(t *testing.T) {
	s, _ := open(t)
	hex := strings.Repeat("a", 64)
	for _, name := range []string{
		"", "sha256:", hex, "sha256:" + hex[1:], "sha256:" + hex + "a", "sha256:" + strings.ToUpper(hex),
		"sha512:" + hex, "sha256:../../" + hex[6:], "sha256:" + hex[:63] + "\n", "sha256:" + hex + "\n", "../../etc/passwd",
	} {
		_, err := s.Open(name)
		require.Equal(t, fault.Input, fault.KindOf(err), "%q", name)
		require.ErrorContains(t, s.Remove([]string{name}), "is no digest", "%q", name)
	}
}

func TestMissingObject(t *testing.T) {
	s, _ := open(t)
	_, err := s.Open(nameOf("x"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, s.Remove([]string{nameOf("x")}))
}

func TestAFailedPutLeavesNothing(t *testing.T) {
	s, dir := open(t)
	gone := errors.New("the guest is gone")
	_, err := s.Put(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(gone)))
	require.ErrorIs(t, err, gone)
	require.Empty(t, files(t, dir))
}

func TestDamagedObjectIsNotRead(t *testing.T) {
	for name, damage := range map[string]string{"changed": "hellO", "cut": "hell", "empty": "", "longer": "hello!"} {
		t.Run(name, func(t *testing.T) {
			s, dir := open(t)
			obj, err := s.PutBytes([]byte("hello"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file(dir, obj.Digest), []byte(damage), 0o600))

			r, err := s.Open(obj.Digest)
			require.NoError(t, err)
			_, err = io.ReadAll(r)
			require.ErrorIs(t, err, artifact.ErrDigest)
			require.Equal(t, fault.Ledger, fault.KindOf(err))
			require.NoError(t, r.Close())

			_, err = s.PutBytes([]byte("hello")) // storing again heals it
			require.NoError(t, err)
			require.Equal(t, "hello", read(t, s, obj.Digest))
		})
	}
}

func read(t *testing.T, s *artifact.Store, digest string) string {
	t.Helper()
	r, err := s.Open(digest)
	require.NoError(t, err)
	b, err := io.ReadAll(iotest.OneByteReader(r))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return string(b)
}

func TestPutAndOpen(t *testing.T) {
	s, dir := open(t)
	for _, content := range []string{"", "hello", strings.Repeat("\x00\xff\n", 100_000)} {
		obj, err := s.Put(iotest.HalfReader(strings.NewReader(content)))
		require.NoError(t, err)
		require.Equal(t, artifact.Object{Digest: nameOf(content), Size: int64(len(content))}, obj)
		again, err := s.PutBytes([]byte(content))
		require.NoError(t, err)
		require.Equal(t, obj, again)
		sizes, err := s.List()
		require.NoError(t, err)
		require.Equal(t, obj.Size, sizes[obj.Digest])
		require.Equal(t, content, read(t, s, obj.Digest))
	}
	require.Len(t, files(t, dir), 3)
}

func TestManyWritersOfTheSameAndOthers(t *testing.T) {
	s, dir := open(t)
	other, err := artifact.Open(dir) // as another process would
	require.NoError(t, err)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			for j, store := range []*artifact.Store{s, other} {
				content := bytes.Repeat([]byte{byte(i % 4), byte(j)}, 10_000)
				if _, err := store.PutBytes(content); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	require.NoError(t, other.Close())
	require.Len(t, files(t, dir), 8)
}

// What a crash left is swept after a day of silence; what is being written stays.
func TestSweep(t *testing.T) {
	s, dir := open(t)
	_, err := s.PutBytes([]byte("kept"))
	require.NoError(t, err)
	old, young := filepath.Join(dir, "tmp", "OLD"), filepath.Join(dir, "tmp", "YOUNG")
	for path, age := range map[string]time.Duration{old: 25 * time.Hour, young: 23 * time.Hour, file(dir, nameOf("kept")): 9000 * time.Hour} {
		require.NoError(t, os.WriteFile(path, []byte("kept"), 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	}
	again, err := artifact.Open(dir)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	require.NoFileExists(t, old)
	require.FileExists(t, young)
	require.Equal(t, "kept", read(t, s, nameOf("kept")))
}

func TestOpenExistingMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "objects")
	_, err := artifact.OpenExisting(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoDirExists(t, dir)
	_, err = artifact.Open(filepath.Join(dir, "deeper"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
