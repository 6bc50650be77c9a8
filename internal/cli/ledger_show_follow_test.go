package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/state"
)

const followed = "20261124-180300-k3fq2a"

// liveRun begins a run in a new project, as joy run does, and enters it in the index as this process's.
func liveRun(t *testing.T) (dir string, env Env, w *ledger.Writer, ends func()) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	vars := map[string]string{"XDG_STATE_HOME": home, "HOME": home}
	env = Env{Dir: dir, LookupEnv: func(key string) (string, bool) { v, ok := vars[key]; return v, ok }, Stderr: io.Discard}
	st, err := state.Open(dir, "")
	require.NoError(t, err)
	run, err := st.NewRun(followed)
	require.NoError(t, err)
	w, err = ledger.Create(run.Dir, run.ID, "sha256:"+strings.Repeat("ab", 32), ledger.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	index := state.OpenIndex(filepath.Join(home, "joy"))
	require.NoError(t, index.Put(state.Live{Run: run.ID, StateDir: st.Path(), Process: state.Self(), Started: time.Now()}))
	return dir, env, w, func() { require.NoError(t, index.Remove(run.ID)) }
}

func appendTo(t *testing.T, w *ledger.Writer, typ ledger.Type, step string, data ledger.Data) {
	t.Helper()
	_, err := w.Append(typ, step, data)
	require.NoError(t, err)
}

// follow runs joy ledger show --follow and gives its lines as they come.
func follow(t *testing.T, env Env, args ...string) (lines *bufio.Reader, code <-chan int) {
	t.Helper()
	r, out, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	env.Stdout = out
	done := make(chan int, 1)
	go func() {
		done <- Main(context.Background(), append([]string{"ledger", "show", "--follow"}, args...), env)
		_ = out.Close()
	}()
	return bufio.NewReader(r), done
}

func TestFollowEndsWithTheRun(t *testing.T) {
	_, env, w, ends := liveRun(t)
	appendTo(t, w, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	lines, code := follow(t, env)
	next := func() string {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		return line
	}
	require.Contains(t, next(), "run started        weekly")
	appendTo(t, w, ledger.StepStarted, "a-very-long-name", ledger.Data{"kind": "script", "skill": "\x1b[2Jx"})
	line := next()
	require.Contains(t, line, "a-very-long…  step started")
	require.Contains(t, line, `\x1b[2Jx`)
	appendTo(t, w, ledger.RunFinished, "", ledger.Data{"outcome": "succeeded"})
	require.Contains(t, next(), "run finished       succeeded")
	select {
	case <-code:
		t.Fatal("it ended before the run was sealed or its joy gone")
	default:
	}
	ends()
	require.Equal(t, 0, <-code)
}

// TestShowOfARunThatGoesOn holds that a run is not called cut off while it goes on, and is once its joy is gone.
func TestShowOfARunThatGoesOn(t *testing.T) {
	_, env, w, ends := liveRun(t)
	appendTo(t, w, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	joy := func(args ...string) (string, string) {
		var stdout, stderr strings.Builder
		env.Stdout, env.Stderr = &stdout, &stderr
		require.Equal(t, 0, Main(t.Context(), args, env))
		return stdout.String(), stderr.String()
	}
	_, said := joy("ledger", "show")
	require.Contains(t, said, "still going on")
	require.NotContains(t, said, "incomplete")
	list, _ := joy("ledger", "list")
	require.Regexp(t, followed+`  going on  incomplete  0 ms  weekly  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  1\n`, list)
	ends()
	_, said = joy("ledger", "show")
	require.Contains(t, said, "warning: the ledger is incomplete: there is no run.finished")
	list, _ = joy("ledger", "list")
	require.NotContains(t, list, "going on")
}

func TestFollowARunWhoseJoyDied(t *testing.T) {
	_, env, w, ends := liveRun(t)
	appendTo(t, w, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	ends()
	lines, code := follow(t, env, "--json")
	all, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(all), `"type":"run.started"`))
	require.Equal(t, 0, <-code)
}

func TestFollowIsInterrupted(t *testing.T) {
	_, env, w, _ := liveRun(t)
	signals := make(chan os.Signal, 1)
	env.Signals = signals
	appendTo(t, w, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	lines, code := follow(t, env)
	_, err := lines.ReadString('\n')
	require.NoError(t, err)
	signals <- syscall.SIGINT
	require.Equal(t, 130, <-code)
}

func TestFullPrintsWhatWasKept(t *testing.T) {
	dir, env, w, ends := liveRun(t)
	defer ends()
	logs := filepath.Join(dir, ".joy", "runs", followed, logsDirName)
	require.NoError(t, os.Mkdir(logs, 0o700))
	long := strings.Repeat("é", outputChunk) // its parts end in the middle of a character
	said := map[string]string{"a.1.stdout": "\x1b[2Jone\n" + long + "\n\xff", "a.1.stderr": "", "a.2.stdout": "two\n", "a.2.stderr": "changed since\n"}
	for name, text := range said {
		require.NoError(t, os.WriteFile(filepath.Join(logs, name), []byte(text), 0o600))
	}
	stream := func(text string) ledger.Data { return ledger.Data{"bytes": len(text), "sha256": hashOf(text)} }
	appendTo(t, w, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	for _, c := range []struct {
		step, stdout, stderr string
		start                int
	}{{"a", said["a.1.stdout"], "", 2}, {"a", "two\n", "as it was\n", 4}, {"b", "gone\n", "", 6}} {
		appendTo(t, w, ledger.CommandStarted, c.step, ledger.Data{"command": "sh " + c.step, "bytes": 4})
		appendTo(t, w, ledger.CommandFinished, c.step, ledger.Data{"of": c.start, "exit": 0, "stdout": stream(c.stdout), "stderr": stream(c.stderr)})
	}
	var out strings.Builder
	env.Stdout = &out
	require.Equal(t, 0, Main(t.Context(), []string{"ledger", "show", "--full", "--type", "command.finished"}, env))
	text := out.String()
	require.Contains(t, text, "    stdout | \\x1b[2Jone\n    stdout | "+long+"\n    stdout | \\xff\n")
	require.Contains(t, text, "    stdout | two\n    stderr: the file kept is not what the ledger names: it was changed since\n")
	require.Contains(t, text, "    stdout is not kept here\n")
	require.NotContains(t, text, "changed since\n    stderr |")
	require.NotContains(t, text, "\x1b")
}
