// Package worldtest runs the script of one of this repository's own bundles in a directory laid out like a step's
// world, so that the script can be tested without booting a VM.
//
// The one rule: it is for tests of scripts that are ours. joy itself starts a bundle's code in a VM and nowhere else;
// nothing outside of _test.go files may import this package.
package worldtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// World is the directory a script sees as /workspace: in/, out/ and a copy of its bundle under skills/.
type World struct {
	Dir    string // working directory of the script
	bundle Bundle
	files  map[string]string // of the copy, before the run
}

// Result is what a script left when it ended.
type Result struct {
	Exit   int
	Stdout string
	Stderr string
	Value  map[string]any // stdout decoded; nil when the script failed
	CPU    time.Duration  // that it and what it waited for used: how busy the machine is does not matter
}

// New copies the bundle at path, relative to the test's directory, into a fresh world.
func New(t testing.TB, path string) *World {
	t.Helper()
	bundle := Load(t, path)
	dir := t.TempDir()
	for _, sub := range []string{"in", "out", "skills"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	home := filepath.Join(dir, "skills", bundle.Name)
	require.NoError(t, os.CopyFS(home, os.DirFS(path)))
	return &World{Dir: dir, bundle: bundle, files: contents(t, home)}
}

// File puts data where joy puts a file input, and returns the path that the input then has.
func (w *World) File(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(w.Dir, "in", name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// Run starts the bundle's entry by its shebang with input as input.json; a nil input leaves input.json out. It
// requires that the bundle is unchanged afterwards and that the result of a script that succeeds keeps its
// output_schema.
func (w *World) Run(t testing.TB, input map[string]any) Result {
	t.Helper()
	if input != nil {
		w.bundle.CheckInput(t, input)
		data, err := json.Marshal(input)
		require.NoError(t, err)
		w.File(t, "input.json", data)
	}
	home := filepath.Join(w.Dir, "skills", w.bundle.Name)
	var stdout, stderr bytes.Buffer
	start := func() (*exec.Cmd, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(home, w.bundle.Entry))
		cmd.Dir, cmd.Stdout, cmd.Stderr = w.Dir, &stdout, &stderr
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=/root", "LANG=C.UTF-8", "TZ=UTC",
			"JOY_INPUT=" + filepath.Join(w.Dir, "in", "input.json"), "JOY_SKILL_DIR=" + home,
		}
		return cmd, cmd.Run()
	}
	cmd, err := start()
	for errors.Is(err, syscall.ETXTBSY) {
		// A child of a test beside this one was forked while the copy was written, and holds it open until its own exec
		// (https://go.dev/issue/22315).
		time.Sleep(time.Millisecond)
		cmd, err = start()
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		require.NoError(t, err, "starting %s (python3 has to be installed)", w.bundle.Entry)
	}
	require.Equal(t, w.files, contents(t, home), "the script changed its bundle")

	result := Result{
		Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String(),
		CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
	}
	if result.Exit == 0 {
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &result.Value), "stdout is not one JSON object:\n%s", &stdout)
		w.bundle.CheckOutput(t, result.Value)
	}
	return result
}

// Out reads the artifact name.
func (w *World) Out(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Dir, "out", name))
	require.NoError(t, err)
	return string(data)
}

// Files lists every file below the world but those of the bundle, with its content: what a script must not have added to.
func (w *World) Files(t testing.TB) map[string]string {
	t.Helper()
	all := contents(t, w.Dir)
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.HasPrefix(path, "skills/") })
	return all
}

func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(data)
		return err
	}))
	return all
}
