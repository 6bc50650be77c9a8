//go:build linux

package connection

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/secret"
)

// patience bounds every wait for another process.
const patience = 3 * time.Minute

// server is one that may do what the tests' scripts do; what confinement keeps from it is another test's.
func server(t *testing.T, argv ...string) *Connection {
	t.Helper()
	return dial(t, Config{Name: "crm", Argv: argv, Dir: t.TempDir(), Unconfined: "a test"})
}

func dial(t *testing.T, cfg Config) *Connection {
	t.Helper()
	c := New(cfg)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func odd(t *testing.T, how string, more ...string) *Connection {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return server(t, append([]string{self, "server:" + how}, more...)...)
}

// Each bad server gives an error that names it, says what was wrong, and leaves no process.
func TestBadServers(t *testing.T) {
	for name, tc := range map[string]struct {
		argv []string
		own  string
		want []string
	}{
		"not there":         {argv: []string{"no-such-program"}, want: []string{"no-such-program", "not found"}},
		"no program":        {argv: []string{"./README.md"}, want: []string{"not found"}},
		"exits at once":     {argv: []string{"sh", "-c", "echo why >&2; exit 3"}, want: []string{"exit status 3", "last words: why"}},
		"exits slowly":      {argv: []string{"sh", "-c", "exec >&-; sleep 0.5; echo why >&2; exit 3"}, want: []string{"exit status 3", "last words: why"}},
		"ends quietly":      {argv: []string{"true"}, want: []string{"it ended"}},
		"prints garbage":    {argv: []string{"sh", "-c", "echo hello; echo '{}'; exec sleep 0.2"}, want: []string{"last words: hello"}},
		"same cursor":       {own: "same cursor", want: []string{`cursor "again"`}},
		"one tool too many": {own: "one tool too many", want: []string{"more than 10000 tools"}},
		"two of a name":     {own: "two of a name", want: []string{`two tools named "act"`}},
		"a nameless tool":   {own: "no name", want: []string{"without a name"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := server(t, tc.argv...)
			if tc.own != "" {
				c = odd(t, tc.own)
			}
			_, _, err := c.Tools(t.Context())
			for _, want := range append(tc.want, "connection crm") {
				require.ErrorContains(t, err, want)
			}
			require.Equal(t, fault.Connection, fault.KindOf(err))
			require.Nil(t, c.session)
		})
	}
}

// A server that says nothing, whether it reads or not, costs the deadline and no more.
func TestSilentServer(t *testing.T) {
	for name, argv := range map[string][]string{
		"sleeps": {"sleep", "1000"},
		"reads":  {"sh", "-c", "cat >/dev/null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := server(t, argv...)
			begun := time.Now()
			_, _, err := c.Tools(t.Context())
			require.ErrorContains(t, err, "no answer within 10s")
			require.ErrorContains(t, err, argv[0])
			require.NotContains(t, hintOf(err), "fetching")
			require.Less(t, time.Since(begun), StartLimit+time.Minute)
		})
	}
}

func hintOf(err error) string {
	var e *fault.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Hint
}

// A program that fetches what it starts may have been silent for that: the hint says what to do about it.
func TestSilentWhileItFetches(t *testing.T) {
	t.Parallel()
	npx := filepath.Join(t.TempDir(), "npx")
	require.NoError(t, os.WriteFile(npx, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700))
	_, _, err := server(t, npx, "-y", "x@1.0.0").Tools(t.Context())
	require.Contains(t, hintOf(err), "npx may be fetching")
	_, _, err = server(t, "no-such-program").Tools(t.Context())
	require.Contains(t, hintOf(err), "/usr/local/bin")
}

// Whatever a server started goes with it.
func TestNothingIsLeft(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	pids := filepath.Join(t.TempDir(), "pids")
	c := server(t, "sh", "-c", `sleep 1000 & echo $! >>`+pids+`; trap '' TERM; "$0" server:plain & echo $! >>`+pids+`; wait`, self)
	// The background child has no input: sh gives it /dev/null. Nobody answers.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var list []string
	seen := make(chan struct{})
	go func() {
		defer close(seen)
		defer cancel()
		for len(list) < 2 && ctx.Err() == nil {
			b, _ := os.ReadFile(pids) // not there yet
			list = strings.Fields(string(b))
			time.Sleep(time.Millisecond)
		}
	}()
	_, _, err = c.Tools(ctx)
	require.Error(t, err)
	cancel()
	<-seen
	require.Len(t, list, 2)
	for _, pid := range list { // what is killed is gone when the kernel has come to it
		require.Eventually(t, func() bool {
			state, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || strings.Contains(string(state), ") Z ")
		}, patience, time.Millisecond, "%s still runs", pid)
	}
}

func TestTools(t *testing.T) {
	c := odd(t, "pages")
	tools, srv, err := c.Tools(t.Context())
	require.NoError(t, err)
	require.Len(t, tools, 100)
	require.Equal(t, Server{"test", "7"}, srv)

	tools, _, err = odd(t, "odd definition").Tools(t.Context())
	require.NoError(t, err)
	want := `{"inputSchema":{"maximum":9007199254740993,"type":"object"},"name":"act","x-custom":{"a":18446744073709551615,"b":1.0}}`
	require.Equal(t, want, string(tools[0].Definition))
	require.Equal(t, digest.Bytes([]byte(want)), tools[0].Digest)
}

func TestNoiseIsNotTheEnd(t *testing.T) {
	c := odd(t, "noise")
	tools, _, err := c.Tools(t.Context())
	require.NoError(t, err)
	require.Len(t, tools, 1)
	require.Contains(t, string(c.session.child.last()), "npm warn")
}

func TestCall(t *testing.T) {
	res, err := odd(t, "verbatim").Call(t.Context(), "act", json.RawMessage(`{"b":9007199254740993,"a":1.0,"a<":"é"}`), false)
	require.NoError(t, err)
	require.JSONEq(t, `{"z":1,"structuredContent":{"n":9007199254740993,"f":1.0,"got":{"b":9007199254740993,"a":1.0,"a<":"é"}},"content":[{"type":"zzz"}]}`,
		strings.Replace(string(res.Raw), `,"x":1e400`, "", 1))
	require.Contains(t, string(res.Raw), `"n":9007199254740993,"f":1.0`, "not a byte is changed")
	require.False(t, res.IsError)

	res, err = odd(t, "fails").Call(t.Context(), "act", nil, false)
	require.NoError(t, err)
	require.True(t, res.IsError)

	_, err = odd(t, "asks").Call(t.Context(), "act", nil, false)
	require.ErrorContains(t, err, "asks for more input")

	c := odd(t, "20 MB")
	_, err = c.Call(t.Context(), "act", nil, false)
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorContains(t, err, "longer than 16 MiB")
}

// A call that may have run is not made again, unless the tool says that it may be.
func TestServerThatDies(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "died")
	c := odd(t, "dies once", marker)
	_, err := c.Call(t.Context(), "act", nil, false)
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorContains(t, err, "signal: killed")
	_, err = c.Call(t.Context(), "act", nil, false)
	require.NoError(t, err, "the next call starts it again")

	require.NoError(t, os.Remove(marker))
	c = odd(t, "dies once", marker)
	_, err = c.Call(t.Context(), "act", nil, true)
	require.NoError(t, err)
}

// The tools are judged again at every start.
func TestCheck(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "died")
	self, err := os.Executable()
	require.NoError(t, err)
	checks := 0
	c := dial(t, Config{Name: "crm", Argv: []string{self, "server:dies once", marker}, Dir: t.TempDir(), Unconfined: "a test", Check: func(tools []Tool) error {
		if checks++; checks > 1 {
			return fault.New(fault.Drift, "the definition of %s changed", tools[0].Name)
		}
		return nil
	}})
	_, err = c.Call(t.Context(), "act", nil, true)
	require.ErrorContains(t, err, "changed")
	require.Equal(t, fault.Drift, fault.KindOf(err))
	require.Equal(t, 2, checks)
}

func TestCallThatNeverEnds(t *testing.T) {
	c := odd(t, "never")
	_, _, err := c.Tools(t.Context())
	require.NoError(t, err, "its start is none of the call's time")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = c.Call(ctx, "act", nil, false)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, ErrUnknown)
}

// A server gets what is declared and nothing of joy's.
func TestEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "canary-of-the-host")
	dir := t.TempDir()
	out := filepath.Join(dir, "env")
	c := dial(t, Config{
		Name: "crm", Argv: []string{"sh", "-c", `env >` + out + `; tr '\0' ' ' </proc/$$/cmdline >>` + out + `; ls -la "$HOME" >>` + out + `; exit 1`}, Dir: dir, Unconfined: "a test",
		Env: map[string]secret.Value{"CRM_TOKEN": secret.NewValue([]byte("canary-of-crm"))},
	})
	_, _, err := c.Tools(t.Context())
	require.Error(t, err)
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(b), "CRM_TOKEN=canary-of-crm")
	require.NotContains(t, string(b), "canary-of-the-host")
	require.Equal(t, 1, strings.Count(string(b), "canary-of-crm"), "in the environment only")
	for line := range strings.Lines(string(b)) {
		name, _, isVar := strings.Cut(line, "=")
		if isVar && !strings.Contains(name, " ") {
			require.Contains(t, []string{"PATH", "HOME", "TMPDIR", "LANG", "CRM_TOKEN", "PWD", "SHLVL", "_", "OLDPWD"}, name)
		}
	}
}

func TestLastWordsAreScrubbed(t *testing.T) {
	set := secret.NewSet()
	require.NoError(t, set.Add("crm", []byte("canary-of-crm")))
	c := dial(t, Config{
		Name: "crm", Argv: []string{"sh", "-c", `echo "bad token $CRM_TOKEN" >&2; exit 1`}, Dir: t.TempDir(), Secrets: set,
		Env: map[string]secret.Value{"CRM_TOKEN": secret.NewValue([]byte("canary-of-crm"))},
	})
	_, _, err := c.Tools(t.Context())
	require.ErrorContains(t, err, "bad token [REDACTED:crm]")
}

func TestClosed(t *testing.T) {
	c := odd(t, "plain")
	_, _, err := c.Tools(t.Context())
	require.NoError(t, err)
	pid := c.session.child.cmd.Process.Pid
	require.NoError(t, c.Close())
	require.ErrorIs(t, unix.Kill(pid, 0), unix.ESRCH)
	_, err = c.Call(t.Context(), "act", nil, false)
	require.ErrorContains(t, err, "closed")
}
