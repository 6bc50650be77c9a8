package digest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

func TestMatchNamesEveryDifference(t *testing.T) {
	before := mapFS(map[string]string{"a": "1", "b": "2", "c": "3", "d/e": "4", "z": "5"})
	pin, err := digest.Walk(before, ".", digest.Options{}, nil)
	require.NoError(t, err)

	after := mapFS(map[string]string{"a": "1", "b": "two", "d/f": "6"})
	after["d/e"] = &fstest.MapFile{Data: []byte("a"), Mode: fs.ModeSymlink}
	after["z"] = &fstest.MapFile{Data: []byte("5"), Mode: 0o755}
	var visited []string
	diffs, err := digest.Match(after, ".", pin.Files, digest.Options{}, func(c digest.Content) error {
		visited = append(visited, c.File.Path)
		return nil
	})
	require.NoError(t, err)
	want := []digest.Difference{
		{"b", digest.Changed, digest.Bytes([]byte("2")), digest.Bytes([]byte("two"))},
		{"c", digest.Missing, digest.Bytes([]byte("3")), ""},
		{"d/e", digest.Refused, "", "a bundle holds no links: this one leads to a, which is not there"},
		{"d/f", digest.Added, "", digest.Bytes([]byte("6"))},
	}
	if os.PathSeparator == '/' {
		want = append(want, digest.Difference{Path: "z", Kind: digest.ModeChanged, Want: "0644", Got: "0755"})
	}
	require.Equal(t, want, diffs)
	require.Equal(t, []string{"a", "z"}, visited)
	for _, d := range diffs {
		f := d.Fault("skills/x")
		require.Equal(t, fault.Drift, f.Kind)
		require.Equal(t, "skills/x/"+d.Path, f.File)
		require.ErrorContains(t, f, d.Got)
		require.ErrorContains(t, f, d.Want)
		require.NotEmpty(t, f.Hint)
	}
}

// A byte changed under the same size and time is seen.
func TestMatchReadsBytes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.py")
	require.NoError(t, os.WriteFile(file, []byte("print(1)"), 0o644))
	st, err := os.Stat(file)
	require.NoError(t, err)
	pin, err := digest.Walk(os.DirFS(dir), ".", digest.Options{}, nil)
	require.NoError(t, err)

	require.NoError(t, os.WriteFile(file, []byte("print(2)"), 0o644))
	require.NoError(t, os.Chtimes(file, st.ModTime(), st.ModTime()))
	diffs, err := digest.Match(os.DirFS(dir), ".", pin.Files, digest.Options{}, nil)
	require.NoError(t, err)
	require.Len(t, diffs, 1)
	require.Equal(t, digest.Changed, diffs[0].Kind)
}

func TestMatchHandsOnThePinnedBytes(t *testing.T) {
	pin, err := digest.Walk(mapFS(map[string]string{"e\u0301": "a\nb\n", "run": "#!/bin/sh\n"}), ".",
		digest.Options{NoExecBit: true}, nil)
	require.NoError(t, err)

	checkout := mapFS(map[string]string{"\u00e9": "a\r\nb\r\n", "run": "#!/bin/sh\r\n"})
	got := map[string]string{}
	diffs, err := digest.Match(checkout, ".", pin.Files, digest.Options{NoExecBit: true}, func(c digest.Content) error {
		got[c.File.Path] = string(c.Data)
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, diffs)
	require.Equal(t, map[string]string{"\u00e9": "a\nb\n", "run": "#!/bin/sh\n"}, got)

	stop := errors.New("disk full")
	_, err = digest.Match(checkout, ".", pin.Files, digest.Options{}, func(digest.Content) error { return stop })
	require.ErrorIs(t, err, stop)
	_, err = digest.Match(checkout, "gone", pin.Files, digest.Options{}, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
