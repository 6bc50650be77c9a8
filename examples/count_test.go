//go:build unix

package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLanguagesAndLines(t *testing.T) {
	tests := map[string]struct {
		name, body, language         string
		lines, code, comments, blank float64
	}{
		"line comments":         {"a.go", "// a\npackage a // b\n\nvar x = 1\n", "Go", 4, 2, 1, 1},
		"block comment":         {"a.c", "/* a\n\n b */ int x;\n/* c */\nint y; /* d */\n", "C", 5, 1, 3, 1},
		"block on one line":     {"a.css", "/* a */\np {}\n/* b */ q {}\n", "CSS", 3, 2, 1, 0},
		"no newline at the end": {"a.py", "# a\nx = 1", "Python", 2, 1, 1, 0},
		"empty":                 {"a.py", "", "Python", 0, 0, 0, 0},
		"blanks alone":          {"a.py", "\n \n\t\n", "Python", 3, 0, 0, 3},
		"shebang":               {"run", "#!/usr/bin/env -S python3 -u\nx\n", "Python", 2, 1, 1, 0},
		"shebang of a shell":    {"run", "#!/bin/dash\r\nx\r\n", "Shell", 2, 1, 1, 0},
		"by name":               {"sub/Makefile", "all:\n# c\n", "Make", 2, 1, 1, 0},
		"name with an ending":   {"Dockerfile.dev", "FROM x\n", "Dockerfile", 1, 1, 0, 0},
		"unknown":               {"a.unknown", "# not known\n", "Other", 1, 1, 0, 0},
		"HTML comment":          {"a.html", "<!-- a\n b -->\n<p>\n", "HTML", 3, 1, 2, 0},
		"comment never closed":  {"a.js", "x\n/* a\ny\n", "JavaScript", 3, 1, 2, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := run(t, "count", files(t, tt.name, tt.body))
			row := result.Value["languages"].([]any)[0].(map[string]any)
			require.Equal(t, tt.language, row["name"])
			require.Equal(t, []any{tt.lines, tt.code, tt.comments, tt.blank}, []any{row["lines"], row["code"], row["comments"], row["blank"]})
		})
	}
}

func TestFilesBeyondReadingCountBySize(t *testing.T) {
	result, _ := run(t, "count", files(t, "big.txt", strings.Repeat("line\n", 1<<20), "a.bin", "\x00\n\n", "a.txt", "x\n"))
	require.EqualValues(t, 3, result.Value["files"])
	require.EqualValues(t, 1, result.Value["text_files"])
	require.EqualValues(t, 1, result.Value["lines"])
	require.EqualValues(t, 5<<20+3+2, result.Value["bytes"])
	require.EqualValues(t, 1, result.Value["passed_over"].(map[string]any)["only_head_read"])
}

func TestRowsBeyondTheLimitAreAddedUp(t *testing.T) {
	var pairs []string
	for i := range 30 {
		pairs = append(pairs, strings.Repeat("d", i+1)+"/a.txt", "x\n")
	}
	result, _ := run(t, "count", files(t, pairs...))
	rows := result.Value["directories"].([]any)
	require.Len(t, rows, 21)
	require.Equal(t, map[string]any{"path": "(others)", "files": 10.0, "bytes": 20.0, "lines": 10.0}, rows[20])
}

func TestRevisionAndNameComeFromGitArchive(t *testing.T) {
	commit := strings.Repeat("ab", 20)
	data := append(raw("pax_global_header", 'g', "00000000064", "52 comment="+commit+"\n"), files(t, "joy/a.go", "x\n")...)
	result, _ := run(t, "count", data)
	require.Equal(t, commit, result.Value["revision"])
	require.Equal(t, "joy", result.Value["name"])
	require.Equal(t, "a.go", result.Value["largest"].([]any)[0].(map[string]any)["path"])
}

// A bundle travels alone, so each carries the modules it shares with another: they must stay the same.
func TestSharedModulesAreTheSame(t *testing.T) {
	for module, bundles := range map[string][]string{
		"tree.py": readers, "header.py": readers, "unpack.py": readers, "world.py": {"count", "lint", "render"},
	} {
		first, err := os.ReadFile(filepath.Join(skills, bundles[0], "scripts", module))
		require.NoError(t, err)
		for _, bundle := range bundles[1:] {
			other, err := os.ReadFile(filepath.Join(skills, bundle, "scripts", module))
			require.NoError(t, err)
			require.Equal(t, string(first), string(other), "%s of %s and %s", module, bundles[0], bundle)
		}
	}
}
