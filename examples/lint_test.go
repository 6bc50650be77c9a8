//go:build unix

package examples_test

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

// found lists what a rule found as "path:line: text", or "path: text" when it is about the whole file.
func found(result worldtest.Result, rule string) []string {
	all := []string{}
	for _, entry := range result.Value["rules"].([]any) {
		entry := entry.(map[string]any)
		if entry["rule"] != rule {
			continue
		}
		for _, shown := range entry["shown"].([]any) {
			shown := shown.(map[string]any)
			if shown["line"] == 0.0 {
				all = append(all, fmt.Sprintf("%s: %s", shown["path"], shown["text"]))
			} else {
				all = append(all, fmt.Sprintf("%s:%.0f: %s", shown["path"], shown["line"], shown["text"]))
			}
		}
	}
	return all
}

func TestRulesOfOneFile(t *testing.T) {
	tests := []struct {
		rule string
		file member
		want []string // without the path; empty: the rule must be silent
	}{
		{"merge-conflict", member{name: "a.go", body: "x\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"}, []string{":2: <<<<<<< ours"}},
		{"merge-conflict", member{name: "a.rst", body: "Title\n=======\n <<<<<<< not at the start\n"}, nil},
		{"crlf", member{name: "a.txt", body: "a\r\nb\r\n"}, []string{": every line"}},
		{"crlf", member{name: "a.txt", body: "a\r\nb\n"}, []string{": 1 of 2 lines"}},
		{"crlf", member{name: "a.bat", body: "a\r\n"}, nil},
		{"trailing-space", member{name: "a.go", body: "a \nb\t\r\nc\n"}, []string{": 2 lines"}},
		{"trailing-space", member{name: "a.md", body: "a  \nb\n"}, nil},
		{"not-utf8", member{name: "a.txt", body: "ok\ncaf\xe9\n"}, []string{":2: byte 0xe9"}},
		{"not-utf8", member{name: "a.txt", body: "café\n"}, nil},
		{"not-utf8", member{name: "a.bin", body: "\x01\x02\xff\xfe"}, nil},
		{"no-shebang", member{name: "run", body: "echo\n", mode: 0o755}, []string{": mode 0755"}},
		{"no-shebang", member{name: "run", body: "#!/bin/sh\n", mode: 0o755}, nil},
		{"no-shebang", member{name: "run", body: "\x7fELF\x00", mode: 0o755}, nil},
		{"large-binary", member{name: "a.bin", body: "\x00" + strings.Repeat("x", 3<<19)}, []string{": 1.5 MiB"}},
		{"large-binary", member{name: "a.txt", body: strings.Repeat("x", 3<<19)}, nil},
		{"large-binary", member{name: "a.bin", body: "\x00" + strings.Repeat("x", 9<<20)}, []string{": 9.0 MiB"}},
		{"todo", member{name: "a.go", body: "\n// TODO: this\n// FIXME(eve) that\nx // HACK\n// XXX later\n"}, []string{
			":2: TODO: this", ":3: FIXME(eve) that", ":4: HACK", ":5: XXX later",
		}},
		{"todo", member{name: "a.sh", body: "mktemp XXXXXX\nTODOS=1\n# \"TODO\" or TODO/FIXME\n# XXX and HACKS\nx = TODO + 1\n"}, nil},
		{"todo", member{name: "a.md", body: "TODO comments are prose.\n"}, nil},
		{"todo", member{name: "a.c", body: "/*\n * TODO one\n   FIXME two\n */\n"}, []string{":2: TODO one", ":3: FIXME two"}},
		{"todo", member{name: "a.md", body: "TODO: write\n"}, []string{":1: TODO: write"}},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprintf("%s %d", tt.rule, i), func(t *testing.T) {
			t.Parallel()
			result, _ := run(t, "lint", archive(t, tt.file, member{name: "dir/other", body: "x\n"}))
			want := []string{}
			for _, text := range tt.want {
				want = append(want, tt.file.name+text)
			}
			require.Equal(t, want, found(result, tt.rule))
		})
	}
}

func TestRulesOfTheTree(t *testing.T) {
	result, _ := run(t, "lint", archive(t,
		member{name: "p/docs/A.txt"}, member{name: "p/docs/a.txt"},
		member{name: "p/to-a", kind: tar.TypeSymlink, link: "docs/a.txt"},
		member{name: "p/to-dir", kind: tar.TypeSymlink, link: "docs"},
		member{name: "p/dead", kind: tar.TypeSymlink, link: "docs/none"},
		member{name: "p/Licence.txt"},
	))
	require.Equal(t, []string{"docs/a.txt: and docs/A.txt"}, found(result, "case-clash"))
	require.Equal(t, []string{"dead: -> docs/none"}, found(result, "dead-symlink"))
	require.Equal(t, []string{".: no README at the top"}, found(result, "missing-file"))
}

func TestEveryFileExecutableSaysNothingOfAnyOne(t *testing.T) {
	result, _ := run(t, "lint", archive(t, member{name: "a.go", body: "a\n", mode: 0o755}, member{name: "b.go", body: "b\n", mode: 0o777}))
	require.Empty(t, found(result, "no-shebang"))
}

func TestShellScripts(t *testing.T) {
	broken := "if true; then\necho\n"
	result, _ := run(t, "lint", files(t,
		"sh", "#!/bin/sh\n"+broken,
		"bash", "#!/usr/bin/env -S bash -e\n"+broken,
		"ending.sh", broken,
		"fine", "#!/bin/bash\n[[ a == a ]] && echo \"${x[@]}\"\n",
		"python.sh", "#!/usr/bin/env python3\nif True:\n  pass\n",
		"zsh", "#!/bin/zsh\n"+broken,
		"touch.sh", "touch joy-ran-this; echo >out/joy-ran-this\n",
	))
	all := found(result, "shell-syntax")
	require.Len(t, all, 3)
	for i, name := range []string{"bash", "ending.sh", "sh"} {
		require.True(t, strings.HasPrefix(all[i], name+":"), all[i])
	}
	require.Equal(t, map[string]any{"checked": 5.0, "unchecked": 1.0}, result.Value["scripts"])
}

func TestShellScriptsAreNotRun(t *testing.T) {
	_, w := run(t, "lint", files(t, "a.sh", "touch ran out/ran\n", "b", "#!/bin/sh\ntouch ran out/ran\n"))
	require.Len(t, w.Files(t), 3, "the input in two files, and findings.jsonl")
}

func TestFindingsAreCountedAndCapped(t *testing.T) {
	result, w := run(t, "lint", files(t, "README", "", "LICENSE", "", "a.go", strings.Repeat("// TODO: again\n", 2500)))
	require.EqualValues(t, 2500, result.Value["notes"])
	require.Len(t, found(result, "todo"), 20)
	lines := strings.Split(strings.TrimSpace(w.Out(t, "findings.jsonl")), "\n")
	require.Len(t, lines, 2000)
	require.True(t, json.Valid([]byte(lines[1999])))
}
