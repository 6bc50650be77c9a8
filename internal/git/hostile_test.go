package git

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// put writes raw, deflated, as the loose object of a name that a hostile repository chose.
func put(t *testing.T, dir, name string, raw []byte) {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := z.Write(raw)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	path := filepath.Join(dir, ".git", "objects", name[:2], name[2:])
	_ = os.Remove(path)
	write(t, path, b.Bytes())
}

func TestBrokenObjects(t *testing.T) {
	dir := repository(t)
	head := run(t, dir, "rev-parse", "HEAD")
	for name, tc := range map[string]struct{ raw, want string }{
		"another name":   {"commit 5\x00hello", "another name"},
		"longer":         {"commit 1\x00hello", "broken"},
		"shorter":        {"commit 9\x00hello", "broken"},
		"no head":        {strings.Repeat("x", 100), "broken"},
		"huge":           {"commit 99999999999\x00", "at most"},
		"negative":       {"commit -1\x00", "at most"},
		"empty":          {"", "broken"},
		"not what it is": {"blob 5\x00hello", "another name"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, dir, head, []byte(tc.raw))
			_, err := fileAt(t, dir, "HEAD")
			require.ErrorContains(t, err, tc.want)
		})
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "objects", head[:2], head[2:]), []byte("no zlib"), 0o600))
	_, err := fileAt(t, dir, "HEAD")
	require.ErrorContains(t, err, "broken")
}

func TestLinksOutAreNotFollowed(t *testing.T) {
	dir := repository(t)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(strings.Repeat("a", 40)), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, ".git", "refs", "heads", "evil")))
	_, err := fileAt(t, dir, "evil")
	require.ErrorIs(t, err, ErrNotFound)
}

func TestRefsThatLead(t *testing.T) {
	dir := repository(t)
	ref := func(name, text string) {
		write(t, filepath.Join(dir, ".git", filepath.FromSlash(name)), []byte(text))
	}
	for name, tc := range map[string]struct{ text, want string }{
		"loop":     {"ref: refs/heads/loop\n", "from ref to ref"},
		"out":      {"ref: ../../../etc/passwd\n", "which is no ref"},
		"config":   {"ref: config\n", "which is no ref"},
		"text":     {"hello\n", "no name of an object"},
		"reftable": {"ref: refs/heads/.invalid\n", "reftable"},
		"large":    {strings.Repeat("x", 1<<16), "larger than"},
	} {
		ref("refs/heads/"+name, tc.text)
		_, err := fileAt(t, dir, name)
		require.ErrorContains(t, err, tc.want, name)
	}
}

func TestAlternatesAreBounded(t *testing.T) {
	dir := repository(t)
	var list strings.Builder
	for i := range 40 {
		other := filepath.Join(t.TempDir(), fmt.Sprint(i))
		write(t, filepath.Join(other, "info", "alternates"), []byte(other+"\n"+filepath.Join(dir, ".git", "objects")+"\n"))
		if list.Len()+len(other) < maxSmall-2 {
			list.WriteString(other + "\n")
		}
	}
	write(t, filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(list.String()))
	r, err := Open(dir)
	require.NoError(t, err)
	defer r.Close()
	require.Len(t, r.objects, maxAlternate)
}

func TestPipesAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git"), []byte("what: is this"))
	_, err := Open(dir)
	require.ErrorContains(t, err, "names none")
	write(t, filepath.Join(dir, ".git"), []byte("gitdir: nowhere"))
	_, err = Open(dir)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrNone)
}

func TestDeltasThatBurst(t *testing.T) {
	r := &Repo{left: maxInflated}
	base := []byte("hello")
	for name, delta := range map[string]string{
		"empty":           "",
		"other base":      "0401" + "01" + "78",
		"insert nothing":  "0501" + "00",
		"insert too much": "0501" + "05" + "78",
		"copy outside":    "0505" + "9101" + "05",
		"copy too much":   "0502" + "90" + "05",
		"too short":       "0509" + "90" + "05",
		"endless size":    "ffffffffffffffffffff",
		"over the limit":  "05" + "ffffffff7f" + "90" + "05",
		"no instruction":  "0505" + "90",
	} {
		raw, err := hex.DecodeString(delta)
		require.NoError(t, err)
		_, err = r.patch(base, raw)
		require.Error(t, err, name)
	}
	r.left = 3
	raw, _ := hex.DecodeString("0505" + "90" + "05")
	_, err := r.patch(base, raw)
	require.ErrorContains(t, err, "unpacked")
}

// FuzzPack hands joy a pack and an index that somebody else wrote, for an object that the real ones hold.
func FuzzPack(f *testing.F) {
	dir := repository(f)
	run(f, dir, "gc", "-q")
	name := run(f, dir, "rev-parse", "HEAD~4:agent/joy.lock")
	idx, pack := packFiles(f, dir)
	f.Add(idx, pack)
	f.Add(idx[:len(idx)/2], pack)
	f.Add(idx, pack[:len(pack)/2])
	f.Fuzz(func(t *testing.T, idx, pack []byte) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "pack", "a.idx"), idx)
		write(t, filepath.Join(dir, "pack", "a.pack"), pack)
		root, err := os.OpenRoot(dir)
		require.NoError(t, err)
		r := &Repo{left: 8 << 20, objects: []*os.Root{root}}
		defer r.Close()
		if o, err := r.object(name); err == nil {
			require.Equal(t, string(version(commits-5)), string(o.data), "what has the name is what was named")
		}
		_ = packedWith(root.FS(), name[:5], map[string]bool{})
	})
}

func packFiles(t testing.TB, dir string) (idx, pack []byte) {
	t.Helper()
	at := filepath.Join(dir, ".git", "objects", "pack", "*.idx")
	found, err := filepath.Glob(at)
	require.NoError(t, err)
	require.Len(t, found, 1)
	idx, err = os.ReadFile(found[0])
	require.NoError(t, err)
	pack, err = os.ReadFile(strings.TrimSuffix(found[0], ".idx") + ".pack")
	require.NoError(t, err)
	return idx, pack
}
