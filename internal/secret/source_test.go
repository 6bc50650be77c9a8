package secret_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

// walk gives every file below dir whose name ends so, but those in folders that hold what others made.
func walk(t testing.TB, dir string, ends []string, each func(path string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == ".git" || name == ".cache" || name == "testdata" && dir == goSource() || strings.HasSuffix(name, "test") && dir != goSource()) {
			return filepath.SkipDir
		}
		for _, end := range ends {
			if d.Type().IsRegular() && strings.HasSuffix(path, end) && (dir == goSource() || !strings.HasSuffix(path, "_test.go")) {
				each(path)
			}
		}
		return nil
	}))
}

func goSource() string { return filepath.Join(runtime.GOROOT(), "src") } //nolint:staticcheck // the tests run beside their toolchain

// source is some MB of Go.
func source(t testing.TB) []byte {
	t.Helper()
	var all []byte
	walk(t, filepath.Join(goSource(), "net"), []string{".go"}, func(path string) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all = append(all, text...)
	})
	return all
}

// found counts, by rule, what the scrubber finds in files.
func found(t testing.TB, dir string, ends ...string) map[string]int {
	t.Helper()
	s, counts := secret.NewScrubber(), map[string]int{}
	walk(t, dir, ends, func(path string) {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		w := s.Writer(io.Discard, func(h secret.Hit) {
			counts[h.Name]++
			t.Logf("%s: %s at %d", path, h.Name, h.Offset)
		})
		_, err = io.Copy(w, f)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	})
	return counts
}

// False alarms are few: what is found in 90 MB of Go is keys of its tests, and in joy itself, less its tests, nothing is.
func TestFalseAlarms(t *testing.T) {
	require.Empty(t, found(t, filepath.Join("..", ".."), ".go", ".md", ".yaml", ".json", ".sh", ".py"))
	if testing.Short() {
		t.Skip("the source of Go takes seconds")
	}
	all := found(t, goSource(), ".go")
	require.LessOrEqual(t, all["generic-api-key"], 25, "in the source of Go")
	delete(all, "generic-api-key")
	require.LessOrEqual(t, all["private-key"], 10)
	delete(all, "private-key")
	require.Empty(t, all)
}
