package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/state"
)

// leftRun is a project with a run whose steps left files of these paths, STEP/NAME. Each holds its path.
func leftRun(t *testing.T, paths ...string) (a *app, out, errs *bytes.Buffer) {
	t.Helper()
	a, out, errs = testApp(t)
	st, err := state.Open(a.dir, "")
	require.NoError(t, err)
	run, err := st.NewRun(followed)
	require.NoError(t, err)
	store, err := artifact.Open(st.ObjectsDir())
	require.NoError(t, err)
	defer store.Close()
	w, err := ledger.Create(run.Dir, run.ID, "sha256:"+strings.Repeat("ab", 32), ledger.Options{})
	require.NoError(t, err)
	appendTo(t, w, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	for _, path := range paths {
		obj, err := store.PutBytes([]byte(path))
		require.NoError(t, err)
		step, name, _ := strings.Cut(path, "/")
		appendTo(t, w, ledger.ArtifactStored, step, ledger.Data{"name": name, "bytes": obj.Size, "sha256": obj.Digest, "media": "text/plain"})
	}
	appendTo(t, w, ledger.ArtifactQuarantined, "a", ledger.Data{"name": "e.bin", "bytes": 7, "secret": "run-token", "form": "raw", "count": 1})
	appendTo(t, w, ledger.ArtifactSkipped, "a", ledger.Data{"name": "big", "bytes": 1 << 40, "reason": "too-large"})
	appendTo(t, w, ledger.ArtifactSkipped, "a", ledger.Data{"name": "l", "reason": "link"})
	appendTo(t, w, ledger.ArtifactSkipped, "a", ledger.Data{"reason": "count", "count": 99_800})
	appendTo(t, w, ledger.RunFinished, "", ledger.Data{"outcome": "succeeded"})
	require.NoError(t, w.Close())
	return a, out, errs
}

func TestArtifactList(t *testing.T) {
	a, out, _ := leftRun(t, "a/one.txt", "b/\x1b[2J")
	require.NoError(t, a.execute(t.Context(), []string{"artifact", "list"}))
	require.Equal(t, `STEP  NAME          SIZE   SHA256        KIND
a     one.txt       9 B    `+hashOf("a/one.txt")[7:19]+`  text/plain
b     \x1b[2J       6 B    `+hashOf("b/\x1b[2J")[7:19]+`  text/plain
a     e.bin         7 B                  quarantined: it holds run-token (raw)
a     big           1 TiB                skipped: too-large
a     l                                  skipped: link
a     (99800 more)                       skipped: count
`, out.String())
	out.Reset()
	require.NoError(t, a.execute(t.Context(), []string{"artifact", "list", "--json"}))
	var left leftovers
	require.NoError(t, json.Unmarshal(out.Bytes(), &left))
	require.Equal(t, "joy.artifact-list/1", left.Schema)
	require.Equal(t, storedArtifact{"a", "one.txt", 9, hashOf("a/one.txt"), "text/plain"}, left.Artifacts[0])
	require.Equal(t, skippedArtifact{Step: "a", Reason: "count", Count: 99_800}, left.Skipped[2])
	require.Equal(t, []withheldArtifact{{Step: "a", Name: "e.bin", Bytes: 7, Secret: "run-token", Form: "raw"}}, left.Quarantined)
}

func TestArtifactGetChooses(t *testing.T) {
	paths := []string{"a/one.txt", "a/sub/two.txt", "b/one.txt", "b/UP.txt", "b/up.txt", "c/abcdef"}
	digest := func(path string) string { return hashOf(path)[7:] }
	for name, c := range map[string]struct {
		args    []string
		written []string // below out; nil: none
		code    int
		says    string
	}{
		"a name":                   {[]string{"sub/two.txt"}, []string{"sub/two.txt"}, 0, ""},
		"a step and a name":        {[]string{"b/one.txt"}, []string{"one.txt"}, 0, ""},
		"a step apart":             {[]string{"--step", "b", "one.txt"}, []string{"one.txt"}, 0, ""},
		"a digest's first digits":  {[]string{digest("a/one.txt")[:12]}, []string{"one.txt"}, 0, ""},
		"a whole digest":           {[]string{hashOf("a/sub/two.txt")}, []string{"sub/two.txt"}, 0, ""},
		"a name like a digest":     {[]string{"abcdef"}, []string{"abcdef"}, 0, ""},
		"all of a step":            {[]string{"--step", "a"}, []string{"a/one.txt", "a/sub/two.txt"}, 0, ""},
		"one twice":                {[]string{"sub/two.txt", "a/sub/two.txt"}, []string{"sub/two.txt"}, 0, ""},
		"a name of several":        {[]string{"one.txt"}, nil, 2, "say which: a/one.txt, b/one.txt"},
		"two for one path":         {[]string{"a/one.txt", "b/one.txt"}, nil, 2, "would both be one.txt"},
		"two that differ in case":  {nil, nil, 2, `"b/UP.txt" and "b/up.txt" would both be b/up.txt`},
		"no such name":             {[]string{"nine.txt"}, nil, 2, `left no artifact "nine.txt"`},
		"one good, one not":        {[]string{"sub/two.txt", "nine.txt"}, nil, 2, "left no artifact"},
		"no such step":             {[]string{"--step", "z"}, nil, 2, "left no artifact of step z"},
		"another step's":           {[]string{"--step", "a", "up.txt"}, nil, 2, "left no artifact"},
		"digits of none":           {[]string{"0123456789"}, nil, 2, "left no artifact"},
		"too few digits":           {[]string{digest("a/one.txt")[:5]}, nil, 2, "left no artifact"},
		"a file that has a secret": {[]string{"e.bin"}, nil, 5, `was quarantined, and no byte of it kept: it holds run-token (raw)`},
		"a file over a cap":        {[]string{"a/big"}, nil, 2, "policy.artifacts.max_file in joy.yaml"},
		"a link":                   {[]string{"l"}, nil, 2, `"l" of step a was not kept: link`},
		"a path up":                {[]string{"../one.txt"}, nil, 2, "left no artifact"},
	} {
		t.Run(name, func(t *testing.T) {
			a, out, errs := leftRun(t, paths...)
			err := a.execute(t.Context(), append([]string{"artifact", "get", "-o", "out"}, c.args...))
			a.report(err)
			require.Equal(t, c.code, exitCode(err), "%s", errs)
			require.Contains(t, errs.String(), c.says)
			require.Equal(t, c.written, filesBelow(t, filepath.Join(a.dir, "out")))
			require.Equal(t, len(c.written), strings.Count(out.String(), "\n"))
		})
	}
}

func filesBelow(t *testing.T, dir string) (list []string) {
	t.Helper()
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, err := d.Info()
			require.NoError(t, err)
			if runtime.GOOS != "windows" && info.Mode().IsRegular() {
				require.Equal(t, fs.FileMode(0o600), info.Mode())
			}
			list = append(list, path)
		}
		return nil
	})
	return list
}

// Whatever names a ledger has, and whatever lies in the directory, nothing is written elsewhere or over something.
func TestArtifactGetStaysBelow(t *testing.T) {
	for name, c := range map[string]struct {
		artifact string
		prepare  func(t *testing.T, dir string) // dir is above out
		written  []string
		says     string
	}{
		"a path up":       {"a/../../x", nil, []string{"a/.%2E/.%2E/x"}, ""},
		"a step up":       {"../x", nil, []string{".%2E/x"}, ""},
		"an absolute one": {"a//etc/x", nil, []string{"a/_/etc/x"}, ""},
		"a device":        {"a/NUL", nil, []string{"a/%4EUL"}, ""},
		"a repository":    {"a/.git/config", nil, []string{"a/%2Egit/config"}, ""},
		"escapes":         {"a/\x1b[2J\n", nil, []string{"a/%1B[2J%0A"}, ""},
		"a file there": {"a/x", func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "out/a"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "out/a/x"), []byte("mine"), 0o600))
		}, []string{"a/x"}, "out/a/x exists already"},
		"a link to a file": {"a/x", func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "out/a"), 0o700))
			require.NoError(t, os.Symlink(filepath.Join(dir, "mine"), filepath.Join(dir, "out/a/x")))
		}, nil, "out/a/x exists already"},
		"a link within": {"a/x", func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "out/b"), 0o700))
			require.NoError(t, os.Symlink("b", filepath.Join(dir, "out/a")))
		}, nil, "links are not followed"},
		"a link outwards": {"a/x", func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "out"), 0o700))
			require.NoError(t, os.Symlink(dir, filepath.Join(dir, "out/a")))
		}, nil, "links are not followed"},
		"a file for a directory": {"a/x", func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "out"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "out/a"), nil, 0o600))
		}, []string{"a"}, "not a directory"},
		"a long name": {"a/" + strings.Repeat("n", 300), nil, nil, "write a/nnn"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.prepare != nil {
				t.Skip("links need a right there")
			}
			a, _, errs := leftRun(t, c.artifact)
			mine := filepath.Join(a.dir, "mine")
			require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o600))
			if c.prepare != nil {
				c.prepare(t, a.dir)
			}
			before := filesBelow(t, a.dir)
			err := a.execute(t.Context(), []string{"artifact", "get", "-o", "out"})
			a.report(err)
			require.Contains(t, errs.String(), c.says)
			if c.says == "" {
				require.NoError(t, err)
				require.Equal(t, c.written, filesBelow(t, filepath.Join(a.dir, "out")))
				body, err := os.ReadFile(filepath.Join(a.dir, "out", filepath.FromSlash(c.written[0])))
				require.NoError(t, err)
				require.Equal(t, c.artifact, string(body))
				return
			}
			require.Equal(t, 2, exitCode(err))
			require.Equal(t, before, filesBelow(t, a.dir))
			body, err := os.ReadFile(mine)
			require.NoError(t, err)
			require.Equal(t, "mine", string(body))
		})
	}
}

func TestArtifactGetJSON(t *testing.T) {
	a, out, _ := leftRun(t, "a/one.txt", "a/CON")
	require.NoError(t, a.execute(t.Context(), []string{"artifact", "get", "-o", "out", "--json", "CON"}))
	var doc struct {
		Schema, Run string
		Written     []chosenArtifact
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	require.Equal(t, "joy.artifact-get/1", doc.Schema)
	require.Equal(t, []chosenArtifact{{storedArtifact{"a", "CON", 5, hashOf("a/CON"), "text/plain"}, "out/%43ON"}}, doc.Written)
}

// A spoiled object is not handed out, and nothing of it stays.
func TestArtifactGetOfASpoiledObject(t *testing.T) {
	a, _, errs := leftRun(t, "a/one.txt")
	sum := hashOf("a/one.txt")[7:]
	object := filepath.Join(a.dir, ".joy/objects/sha256", sum[:2], sum)
	require.NoError(t, os.WriteFile(object, []byte("A/one.txt"), 0o600))
	err := a.execute(t.Context(), []string{"artifact", "get", "one.txt", "-o", "out"})
	require.Equal(t, 7, a.report(err), "%s", errs)
	require.Empty(t, filesBelow(t, filepath.Join(a.dir, "out")))
	require.NoError(t, os.Remove(object))
	err = a.execute(t.Context(), []string{"artifact", "get", "one.txt", "-o", "out"})
	require.Equal(t, 2, a.report(err), "%s", errs)
	require.Contains(t, errs.String(), "is not in the store")
}
