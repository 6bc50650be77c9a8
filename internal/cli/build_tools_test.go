//go:build linux

package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/nodetest"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/trust"
)

// connected is a project with connections, and joy at work in it as somebody whose word is in JOY_TRUST.
type connected struct {
	t    *testing.T
	dir  string
	home string
	vars map[string]string
}

func newConnected(t *testing.T, spec string) *connected {
	t.Helper()
	c := &connected{t: t, dir: t.TempDir(), home: t.TempDir(), vars: map[string]string{}}
	c.write("joy.yaml", "version: 1\nname: a\n"+spec)
	return c
}

func (c *connected) write(name, text string) {
	c.t.Helper()
	require.NoError(c.t, os.MkdirAll(filepath.Dir(filepath.Join(c.dir, name)), 0o755))
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644))
}

// joy runs a command and returns its exit code and both streams.
func (c *connected) joy(args ...string) (int, string) {
	c.t.Helper()
	var out bytes.Buffer
	code := Main(context.Background(), args, Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: c.dir, OperatorPolicy: filepath.Join(c.home, "none"),
		LookupEnv: func(key string) (string, bool) {
			if key == "HOME" {
				return c.home, true
			}
			v, ok := c.vars[key]
			return v, ok
		},
	})
	require.Empty(c.t, c.leftovers(), out.String())
	return code, out.String()
}

// trusted allows what the project names now.
func (c *connected) trusted() *connected {
	sub, err := trust.OfDir(c.dir)
	require.NoError(c.t, err)
	c.vars[trust.Variable] = sub.Digest()
	return c
}

// leftovers are processes that have the project in their command line or as their directory.
func (c *connected) leftovers() (out []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		cmdline, _ := os.ReadFile(name)
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(name), "cwd"))
		if bytes.Contains(cmdline, []byte(c.dir)) || cwd == c.dir {
			out = append(out, string(cmdline))
		}
	}
	return out
}

func (c *connected) plan() *plan.Plan {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, build.LockName))
	require.NoError(c.t, err)
	p, err := plan.Decode(data, build.LockName)
	require.NoError(c.t, err)
	return p
}

// own is a connection to testdata/server.mjs, copied into the project.
func own(t *testing.T, name, how string) string {
	return fmt.Sprintf("  %s: {command: [%s, server.mjs, %s], env: {TOKEN: 'secret:token'}}\n", name, nodetest.Node(t), how)
}

func hostile(t *testing.T, hows ...string) *connected {
	t.Helper()
	spec, steps := "connections:\n", "steps:\n"
	for i, how := range hows {
		spec += own(t, fmt.Sprintf("c%d", i), how)
		steps += fmt.Sprintf("  - {id: s%d, action: c%d.act}\n", i, i)
	}
	c := newConnected(t, spec+steps)
	server, err := os.ReadFile("testdata/server.mjs")
	require.NoError(t, err)
	c.write("server.mjs", string(server))
	c.vars["JOY_SECRET_TOKEN"] = "canary-of-the-token"
	return c.trusted()
}

// Real servers, started side by side, their schemas held to what the steps hand them.
func TestBuildPinsRealServers(t *testing.T) {
	command := func(argv []string) string { return "[" + strings.Join(argv, ", ") + "]" }
	data := t.TempDir()
	c := newConnected(t, "connections:\n  files: {command: "+command(nodetest.Filesystem(t, data))+"}\n  every: {command: "+command(nodetest.Everything(t))+
		"}\nsteps:\n  - {id: drop, action: files.write_file, with: {path: x.txt, content: hello}}\n  - {id: echo, action: every.echo, with: {message: hi}}\n")

	code, out := c.joy("build")
	require.Equal(t, 4, code, out)
	require.Contains(t, out, "JOY_TRUST=sha256:")
	require.NoFileExists(t, filepath.Join(c.dir, build.LockName))

	code, out = c.trusted().joy("build")
	require.Zero(t, code, out)
	require.Contains(t, out, "2 tools pinned")
	require.Contains(t, out, "a person is asked before files.write_file")
	p := c.plan()
	require.Equal(t, "secure-filesystem-server", p.Connections["files"].Server.Name)
	require.Contains(t, string(p.Connections["every"].Tools["echo"].Definition), `"inputSchema"`)

	// What is pinned needs no trust, no server and no Node: nothing is started.
	delete(c.vars, trust.Variable)
	for _, args := range [][]string{{"build"}, {"build", "--check"}, {"check"}, {"plan", "show"}, {"simulate"}} {
		code, out = c.joy(args...)
		require.Zero(t, code, out)
	}
	require.Equal(t, p, c.plan())
	code, out = c.joy("build", "--update", "tools")
	require.Equal(t, 4, code, out)

	spec, err := os.ReadFile(filepath.Join(c.dir, "joy.yaml"))
	require.NoError(t, err)
	for _, tc := range []struct{ from, to, want string }{
		{"content: hello", "content: 1", "the tool files.write_file does not take this: content: got number, want string"},
		{"path: x.txt, ", "", `the tool files.write_file requires the input "path"`},
		{"files.write_file", "files.writefile", `the server of connection files has no tool "writefile"`},
		{"files.write_file", "files.writefile", "did you mean write_file? it has create_directory, "},
		{"files.write_file", "write_file", "say whose it is: every.write_file or files.write_file"},
	} {
		c.write("joy.yaml", strings.Replace(string(spec), tc.from, tc.to, 1))
		delete(c.vars, trust.Variable)
		if tc.to != "write_file" {
			c.trusted()
		}
		code, out = c.joy("build")
		require.Equal(t, 2, code, out)
		require.Contains(t, out, tc.want)
		require.Regexp(t, `joy\.yaml:\d+:\d+`, out)
	}
}

// Each bad server gives an error with its name and place, and leaves neither a lock nor a process.
func TestBuildWithHostileServers(t *testing.T) {
	for how, want := range map[string]string{
		"endless":     "more than 1000 pages",
		"same-cursor": `the cursor "again" comes again`,
		"many":        "more than 10000 tools",
		"garbage":     "no answer within 10s",
		"silent":      "no answer within 10s",
		"twins":       `two tools named "act"`,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := hostile(t, how)
			code, out := c.joy("build")
			require.Equal(t, 1, code, out)
			require.Contains(t, out, "connection c0 (")
			require.Contains(t, out, want)
			require.Regexp(t, `\(joy\.yaml:4:3\)`, out)
			require.NoFileExists(t, filepath.Join(c.dir, build.LockName))
			require.NotContains(t, out, "canary")
		})
	}
}

// Servers start side by side: two silent ones cost one deadline, and each is named.
func TestBuildNamesEveryServerThatFails(t *testing.T) {
	t.Parallel()
	code, out := hostile(t, "silent", "twins", "silent").joy("build")
	require.Equal(t, 1, code)
	for _, want := range []string{"connection c0 (", "connection c1 (", "connection c2 ("} {
		require.Contains(t, out, want)
	}
}

func TestBuildKeepsSecretsOutOfTheLock(t *testing.T) {
	c := hostile(t, "secret")
	code, out := c.joy("build")
	require.Equal(t, 5, code, out)
	require.Contains(t, out, "says a secret back in the definition of a tool")
	require.NotContains(t, out, "canary")

	delete(c.vars, "JOY_SECRET_TOKEN")
	code, out = c.joy("build")
	require.Equal(t, 4, code, out)
	require.Contains(t, out, "the secret token")
}

// The tool is on the second page; a file of the command that changes is drift; an update shows what changed.
func TestBuildUpdatesTools(t *testing.T) {
	c := hostile(t, "pages")
	code, out := c.joy("build")
	require.Zero(t, code, out)
	require.Equal(t, "server.mjs", c.plan().Connections["c0"].Files[0].Path)
	old := c.plan()

	server, err := os.ReadFile(filepath.Join(c.dir, "server.mjs"))
	require.NoError(t, err)
	c.write("server.mjs", strings.Replace(string(server), `case "pages":`, `case "pages": return { tools: [{ ...tool("act"), description: "new" }] }; case "other":`, 1))
	code, out = c.joy("build", "--check")
	require.Equal(t, 3, code, out)
	require.Contains(t, out, "connection c0: file server.mjs")
	code, out = c.joy("simulate")
	require.Equal(t, 3, code, out)

	code, out = c.joy("build")
	require.Zero(t, code, out)
	require.Contains(t, out, `+ connection c0: tool act.description: "new"`)
	require.NotEqual(t, old.Connections["c0"].Tools, c.plan().Connections["c0"].Tools)
}
