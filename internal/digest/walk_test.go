package digest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

// mapFS makes a bundle of plain files from path and text.
func mapFS(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for p, text := range files {
		m[p] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return m
}

func paths(files []digest.File) []string {
	out := []string{}
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

func TestWalkRefusesNames(t *testing.T) {
	cases := []struct{ name, path, rule, says string }{
		{"backslash", `a\b`, digest.RuleName, "other systems"},
		{"colon", "a:b", digest.RuleName, "other systems"},
		{"star", "a*", digest.RuleName, "other systems"},
		{"question mark", "a?", digest.RuleName, "other systems"},
		{"quote", `"a"`, digest.RuleName, "other systems"},
		{"angle brackets", "<a>", digest.RuleName, "other systems"},
		{"pipe", "a|b", digest.RuleName, "other systems"},
		{"newline", "a\nb", digest.RuleName, "control"},
		{"escape", "a\x1b[2J", digest.RuleName, "control"},
		{"C1 control", "a\u0085", digest.RuleName, "control"},
		{"device", "aux", digest.RuleName, "reserved"},
		{"device with extension", "refs/Con.tar.gz", digest.RuleName, "reserved"},
		{"device with a space", "nul .txt", digest.RuleName, "reserved"},
		{"port", "COM1", digest.RuleName, "reserved"},
		{"superscript port", "lpt².md", digest.RuleName, "reserved"},
		{"trailing dot", "a.", digest.RuleName, "dot or a space"},
		{"trailing space", "dir /a", digest.RuleName, "dot or a space"},
		{"too long", strings.Repeat("é", 128), digest.RuleName, "255 bytes"},
		{"case", "A.SH", digest.RuleCollision, `"a.sh"`},
		{"accent", "cafe\u0301", digest.RuleCollision, `"caf\u00e9"`},
		{"case of a directory", "DIR/x", digest.RuleCollision, `"dir"`},
		{"sharp s", "STRASSE", digest.RuleCollision, `"stra\u00dfe"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := mapFS(map[string]string{"s/SKILL.md": "x", "s/a.sh": "", "s/café": "", "s/dir/y": "", "s/straße": "", "s/" + c.path: ""})
			_, err := digest.Walk(m, "s", digest.Options{}, func(digest.Content) error {
				return errors.New("nothing may be visited")
			})
			faults := fault.All(err)
			require.Len(t, faults, 1)
			require.Equal(t, c.rule, faults[0].Code)
			require.Equal(t, fault.Input, faults[0].Kind)
			require.ErrorContains(t, err, c.says)
			require.True(t, strings.HasPrefix(faults[0].File, "s/"), faults[0].File)
			require.NotEmpty(t, faults[0].Hint)
		})
	}
}

func TestCheckNameTakesOrdinaryNames(t *testing.T) {
	for _, n := range []string{"a", ".env", "com", "COM10", "console.log", "my file (1).md", "日本語.txt", "a'b", "lpt0"} {
		require.NoError(t, digest.CheckName(n), n)
	}
	for _, n := range []string{"", ".", "..", "a/b", "a\xff"} {
		require.Error(t, digest.CheckName(n), n)
	}
}

func TestWalkNamesEveryOffender(t *testing.T) {
	m := mapFS(map[string]string{"a:b": "", "c|d": "", "ok/nul": ""})
	m["link"] = &fstest.MapFile{Data: []byte("a"), Mode: fs.ModeSymlink | 0o777}
	_, err := digest.Walk(m, ".", digest.Options{}, nil)
	var places []string
	for _, f := range fault.All(err) {
		places = append(places, f.File)
	}
	require.Equal(t, []string{"a:b", "c|d", "link", "ok/nul"}, places)
}

func TestWalkLimits(t *testing.T) {
	m := mapFS(map[string]string{"a/b/c/d": "12345", "e": "678"})
	cases := []struct {
		name   string
		limits digest.Limits
		file   string
		says   string
	}{
		{"count", digest.Limits{Files: 4}, ".", "4 files and directories"},
		{"levels", digest.Limits{Levels: 2}, "a/b/c", "2 levels"},
		{"file", digest.Limits{FileBytes: 4}, "a/b/c/d", "4 bytes"},
		{"total", digest.Limits{TotalBytes: 7}, ".", "7 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := digest.Walk(m, ".", digest.Options{Limits: c.limits}, nil)
			var f *fault.Error
			require.ErrorAs(t, err, &f)
			require.Equal(t, digest.RuleLimit, f.Code)
			require.Equal(t, c.file, f.File)
			require.ErrorContains(t, err, c.says)
		})
	}
	l, err := digest.Walk(m, ".", digest.Options{Limits: digest.Limits{Files: 5, Levels: 3, FileBytes: 5, TotalBytes: 8}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a/b/c/d", "e"}, paths(l.Files))
}

func TestWalkLeavesOut(t *testing.T) {
	m := mapFS(map[string]string{
		"SKILL.md": "x", ".git/config": "", "d/.git": "gitdir: x", ".DS_Store": "", "d/Thumbs.db": "", "d/desktop.ini": "",
		"d/._x": "", "joy.lock": "", "joy.lock.sig": "", ".joy/runs/1": "", "d/joy.lock": "", "d/.joy": "", ".gitignore": "", "thumbs.db": "",
		"n/SKILL.md": "", "n/a:b": "", "n/deep/x": "", "o/skill.md": "",
	})
	m["empty"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	l, err := digest.Walk(m, ".", digest.Options{}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{".gitignore", "SKILL.md", "d/.joy", "d/joy.lock", "thumbs.db"}, paths(l.Files))
	require.Equal(t, []string{"n", "o"}, l.Nested)
}

func TestWalkPinsWhatItVisits(t *testing.T) {
	m := mapFS(map[string]string{"b.txt": "1\r\n", "a.bat": "2\r\n", "B2": "", "held": "on disk"})
	raw, err := digest.ParseGlobs("*.bat")
	require.NoError(t, err)
	got := map[string]string{}
	l, err := digest.Walk(m, ".", digest.Options{Raw: raw, Held: map[string][]byte{"held": []byte("read before")}},
		func(c digest.Content) error {
			got[c.File.Path] = string(c.Data)
			require.Equal(t, "sha256:"+c.File.SHA256, digest.Bytes(c.Data))
			return nil
		})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.bat": "2\r\n", "b.txt": "1\n", "B2": "", "held": "read before"}, got)
	require.Equal(t, []string{"B2", "a.bat", "b.txt", "held"}, paths(l.Files))
	require.Equal(t, []string{"b.txt"}, l.Converted)

	stop := errors.New("disk full")
	_, err = digest.Walk(m, ".", digest.Options{}, func(digest.Content) error { return stop })
	require.ErrorIs(t, err, stop)
}

func TestModeComesFromWhereItIsKnown(t *testing.T) {
	m := mapFS(map[string]string{"shebang": "#!/bin/sh\n", "plain": "x"})
	m["bit"] = &fstest.MapFile{Data: []byte("x"), Mode: 0o755}
	modes := func(opts digest.Options) map[string]string {
		l, err := digest.Walk(m, ".", opts, nil)
		require.NoError(t, err)
		out := map[string]string{}
		for _, f := range l.Files {
			out[f.Path] = f.Mode
		}
		return out
	}
	require.Equal(t, map[string]string{"shebang": "0755", "plain": "0644", "bit": "0644"}, modes(digest.Options{NoExecBit: true}))
	index := func(p string) (string, bool) { return digest.ModePlain, p == "shebang" }
	require.Equal(t, map[string]string{"shebang": "0644", "plain": "0644", "bit": "0644"},
		modes(digest.Options{NoExecBit: true, Modes: index}))
	if os.PathSeparator == '/' {
		require.Equal(t, map[string]string{"shebang": "0644", "plain": "0644", "bit": "0755"}, modes(digest.Options{}))
	}
}

// The same bundle as four checkouts spell it has one name, and that name does not change between versions of joy.
func TestOneBundleOneDigest(t *testing.T) {
	const golden = "sha256:6733dd76309f5bfdb17312e8557357db9b4367127b880e1d04b9ca51d8cd09a6"
	const png = "\x89PNG\r\n\x1a\n"
	spell := func(end, accent string) fstest.MapFS {
		m := mapFS(map[string]string{
			"SKILL.md":                  "---" + end + "name: rapport" + end + "---" + end + "Écris." + end,
			"ref/r" + accent + "su.txt": "un" + end + "deux",
			"logo.png":                  png,
		})
		m["run.sh"] = &fstest.MapFile{Data: []byte("#!/bin/sh" + end), Mode: 0o755}
		return m
	}
	for _, end := range []string{"\n", "\r\n"} {
		for _, accent := range []string{"\u00e9", "e\u0301"} {
			for _, noBit := range []bool{false, true} {
				l, err := digest.Walk(spell(end, accent), ".", digest.Options{NoExecBit: noBit}, nil)
				require.NoError(t, err)
				require.Equal(t, golden, l.Digest())
			}
		}
	}
}

func TestWalkOfARealDirectory(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "s", "scripts"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s", "SKILL.md"), []byte("x\r\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s", "scripts", "a.sh"), nil, 0o755))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, root.Close()) })

	l, err := digest.Walk(root.FS(), "s", digest.Options{}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"SKILL.md", "scripts/a.sh"}, paths(l.Files))

	_, err = digest.Walk(root.FS(), "t", digest.Options{}, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
