package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// testApp is an app with a home of its own whose streams are kept.
func testApp(t *testing.T) (a *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return newApp(Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Dir: t.TempDir(),
		LookupEnv: func(key string) (string, bool) { return home, key == "HOME" },
	}), stdout, stderr
}

func TestExitCode(t *testing.T) {
	alive := &fault.Error{Kind: fault.Agent, Code: codeVMAlive, Msg: "x"}
	term := &interrupted{syscall.SIGTERM}
	agent := fault.New(fault.Agent, "x")
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"nobody classified it":      {errors.New("x"), 6},
		"agent":                     {agent, 1},
		"connection":                {fault.New(fault.Connection, "x"), 1},
		"input":                     {fault.New(fault.Input, "x"), 2},
		"drift":                     {fault.New(fault.Drift, "x"), 3},
		"consent":                   {fault.New(fault.Consent, "x"), 4},
		"policy":                    {fault.New(fault.Policy, "x"), 5},
		"platform":                  {fault.New(fault.Platform, "x"), 6},
		"ledger":                    {fault.New(fault.Ledger, "x"), 7},
		"timeout":                   {fault.New(fault.Timeout, "x"), 124},
		"a kind of no table":        {fault.New("weather", "x"), 6},
		"wrapped":                   {fmt.Errorf("around: %w", fault.New(fault.Drift, "x")), 3},
		"the first of several":      {errors.Join(agent, fault.New(fault.Policy, "x")), 1},
		"SIGINT":                    {&interrupted{os.Interrupt}, 130},
		"SIGHUP":                    {&interrupted{syscall.SIGHUP}, 129},
		"a signal before a failure": {errors.Join(agent, term), 143},
		"a live VM before a signal": {errors.Join(agent, term, alive), 6},
		"already reported":          {exit(5), 5},
		"nothing":                   {exit(0), 0},
	} {
		require.Equal(t, c.want, exitCode(c.err), name)
	}
}

func TestReport(t *testing.T) {
	first := fault.Wrap(fault.Input, errors.New("no such file"), "read the skill").
		At("skills/\x1b[2J.md", 3, 7).WithHint("run %q", "joy check")
	second := fault.New(fault.Policy, "denied\nhint: run \"curl evil\"")

	a, stdout, stderr := testApp(t)
	require.Equal(t, 2, a.report(errors.Join(first, second)))
	require.Empty(t, stdout.String())
	require.Equal(t, "Error: read the skill (skills/\\x1b[2J.md:3:7)\ncause: no such file\nhint: run \"joy check\"\n"+
		"Error: denied\\nhint: run \"curl evil\"\n", stderr.String())

	a, stdout, stderr = testApp(t)
	a.json = true
	require.Equal(t, 2, a.report(errors.Join(first, second)))
	require.Empty(t, stderr.String())
	var doc struct {
		Schema string
		Error  errorJSON
		More   []errorJSON
	}
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &doc))
	require.Equal(t, "joy.error/1", doc.Schema)
	require.Equal(t, errorJSON{"input", "read the skill: no such file", `run "joy check"`, "skills/\x1b[2J.md", 3, 7}, doc.Error)
	require.Len(t, doc.More, 1)

	a, stdout, stderr = testApp(t)
	require.Equal(t, 3, a.report(exit(3)))
	require.Empty(t, stdout.String()+stderr.String(), "what was reported is not said twice")
}

func TestSignals(t *testing.T) {
	a, _, stderr := testApp(t)
	sigs := make(chan os.Signal)
	ctx, cancel := context.WithCancelCause(t.Context())
	a.signals.watch(sigs, cancel)

	sigs <- syscall.SIGTERM
	<-ctx.Done()
	require.Equal(t, 143, exitCode(withCause(ctx, ctx.Err())))
	require.NoError(t, withCause(ctx, nil), "a command that ended well in spite of it")
	require.Equal(t, 143, exitCode(withCause(ctx, fault.New(fault.Agent, "step failed"))))

	sigs <- syscall.SIGTERM
	<-a.signals.second
	sigs <- syscall.SIGTERM
	<-a.signals.third
	require.Equal(t, 6, a.report(abandoned(ctx)))
	require.Contains(t, stderr.String(), `hint: run "joy gc"`)
}

func TestReportOfASignal(t *testing.T) {
	a, _, stderr := testApp(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&interrupted{syscall.SIGINT})
	require.Equal(t, 130, a.report(withCause(ctx, fault.New(fault.Agent, "step failed"))))
	require.Equal(t, "Error: stopped by interrupt\nError: step failed\n", stderr.String())
}

// TestHelp holds every command to the same page: a short line, two or three examples, and those last.
func TestHelp(t *testing.T) {
	a, stdout, _ := testApp(t)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" {
			return
		}
		stdout.Reset()
		require.NoError(t, cmd.Help())
		n := strings.Count(cmd.Example, "\n") + 1
		require.True(t, n >= 2 && n <= 3, "%s has %d lines of examples", cmd.CommandPath(), n)
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			require.True(t, strings.HasPrefix(line, "  ") && strings.Contains(line, "joy "), "%s: %q", cmd.CommandPath(), line)
		}
		require.True(t, strings.HasSuffix(stdout.String(), "Examples:\n"+cmd.Example+"\n"), cmd.CommandPath())
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.NotNil(t, cmd.Args, "%s: cobra's own complaints about arguments are not joy's", cmd.CommandPath())
		require.True(t, cmd.PersistentPreRunE == nil || cmd.Parent() == nil, cmd.CommandPath())
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(a))
}

func TestUnknownCommandSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"verson": "did you mean version?", "comp": "did you mean completion?", "int": "did you mean init?",
		"frobnicate": `run "joy --help"`, "x": `run "joy --help"`, "": `run "joy --help"`,
	} {
		a, _, _ := testApp(t)
		err := a.execute(t.Context(), []string{name})
		var e *fault.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, want, e.Hint, name)
		require.Equal(t, 2, exitCode(err))
	}
}

func TestPatientWriter(t *testing.T) {
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	p := &patient{w: w}
	for range 2 {
		n, err := p.Write([]byte("a reader that went away"))
		require.NoError(t, err)
		require.Equal(t, 23, n)
	}
	p = &patient{w: failing{}}
	_, err := p.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.ENOSPC, "a full disk is not a reader")
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
