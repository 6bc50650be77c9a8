package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"joy": main, "record-until-killed": recordUntilKilled})
}

// TestScript runs the stories in testdata/script. The first word of a file's name is the command it is about.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		Setup:               isolate,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"json":   checkJSON,
			"copies": copies,
			"vm":     storyVM,
		},
	})
}

// TestReaderGoesAway is `joy … | head -0`, without the race.
func TestReaderGoesAway(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	require.NoError(t, r.Close())
	cmd := exec.CommandContext(t.Context(), "joy", "help", "exit-codes")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stdout = w
	require.NoError(t, cmd.Run())
}

// isolate gives a story directories of its own and nothing of the tester's settings.
func isolate(env *testscript.Env) error {
	for key, dir := range map[string]string{
		"HOME": "home", "XDG_CONFIG_HOME": "home/config", "XDG_STATE_HOME": "home/state",
		"XDG_CACHE_HOME": "home/cache", "XDG_RUNTIME_DIR": "home/runtime",
	} {
		path := filepath.Join(env.WorkDir, dir)
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		env.Setenv(key, path)
	}
	env.Setenv("TERM", "dumb")
	env.Setenv("ESCAPE", "\x1b[2J") // a txtar file holds text only
	repo, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	env.Setenv("REPO", repo)
	// Images take minutes to build, so stories that boot a VM share the tester's.
	env.Setenv("TESTER_CACHE", testerCache())
	return nil
}

// condition knows [root]: the tester may give files away.
func condition(cond string) (bool, error) {
	if cond == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

func testerCache() string {
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache")
}

// exits runs a program and asserts its exact exit code: exits N program [args...]. Its output is then stdout and
// stderr to the script, as after exec.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // testscript returns it unwrapped
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// checkJSON asserts a value in a JSON document: json FILE PATH VALUE, where PATH is dotted (error.code, files.0) and
// VALUE is compared as text; without VALUE the path must be there; with ! it must not, or not be VALUE.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: [!] json FILE PATH [VALUE]")
	}
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &at))
	found := true
	for _, key := range strings.Split(args[1], ".") {
		at, found = child(at, key)
		if !found {
			break
		}
	}
	text, isText := at.(string)
	if found && !isText {
		data, err := json.Marshal(at)
		ts.Check(err)
		text = string(data)
	}
	ok := found && (len(args) == 2 || text == args[2])
	if ok == neg {
		ts.Fatalf("%s of %s is %q (found: %v)", args[1], args[0], text, found)
	}
}

func child(at any, key string) (any, bool) {
	switch v := at.(type) {
	case map[string]any:
		value, ok := v[key]
		return value, ok
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// copies copies a tree of the repository into the story: copies PATH TARGET, PATH from the repository's top.
func copies(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copies PATH TARGET")
	}
	from := filepath.Join(ts.Getenv("REPO"), filepath.FromSlash(args[0]))
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(from)))
}
