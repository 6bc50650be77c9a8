package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// annotated runs joy in a directory as GitHub Actions would and returns its two streams.
func annotated(t *testing.T, dir string, args ...string) (code int, lines []string) {
	t.Helper()
	var out bytes.Buffer
	home := t.TempDir()
	code = Main(t.Context(), args, Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: dir,
		LookupEnv: func(key string) (string, bool) {
			v, ok := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": dir, "HOME": home}[key]
			return v, ok
		},
	})
	return code, strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// obeyed are the lines a runner would take for commands: "::" at the beginning, or "##[" anywhere
// (github.com/actions/runner, ActionCommand.cs).
func obeyed(lines []string) (out []string) {
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimLeft(l, " \t"), "::") || strings.Contains(l, "##[") {
			out = append(out, l)
		}
	}
	return out
}

// TestNamesAreNoCommands puts commands into names of files, as a pull request from a stranger could.
func TestNamesAreNoCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names there")
	}
	for name, file := range map[string]string{
		"a line of its own":     "x\n::add-path::evil",
		"a carriage return":     "x\r::add-path::evil",
		"the older form":        "##[add-path]evil",
		"ends of a property":    "x,line=1::evil",
		"escaped by its author": "x%0A::add-path::evil",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: a\ndescription: d\n---\nAnswer.\n"), 0o600))
			code, _ := annotated(t, dir, "build")
			require.Zero(t, code)
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o600))
			code, lines := annotated(t, dir, "build", "--check")
			require.Contains(t, []int{2, 3}, code)
			commands := obeyed(lines)
			require.NotEmpty(t, commands)
			for _, c := range commands {
				require.Regexp(t, `^::(error|warning) file=[^:,]*,(line=\d+,)?title=JOY-[A-Z-]+::`, c)
				require.NotContains(t, c, "%0A::add-path::evil%", "what was escaped once is escaped again")
			}
			_, lines = annotated(t, dir, "build", "--check", "-v")
			for _, c := range obeyed(lines) {
				require.True(t, strings.HasPrefix(c, "::error file=") || strings.HasPrefix(c, "::warning file="), c)
			}
		})
	}
}
