//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/guest"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/nodetest"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
)

// TestMain lets this program be joy-guest, for the tests to start.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "joy-guest" {
		os.Exit(guest.Main(os.Args, os.Stderr))
	}
	os.Exit(m.Run())
}

// world is what a step has, without the VM: joy-guest on its PATH and the door of a broker with the reference server
// behind it.
type world struct {
	env []string
	dir string
}

func newWorld(t *testing.T, grants ...plan.Grant) world {
	t.Helper()
	cfg := connection.Config{Name: "demo", Argv: nodetest.Everything(t), Dir: filepath.Dir(nodetest.Modules(t))}
	asked := connection.New(cfg)
	tools, _, err := asked.Tools(t.Context())
	require.NoError(t, err)
	require.NoError(t, asked.Close())
	pins := plan.Connection{Tools: map[string]plan.Tool{}}
	for _, tool := range tools {
		pins.Tools[tool.Name] = plan.Tool{Digest: tool.Digest, Definition: tool.Definition}
	}

	led, err := ledger.Memory("run-1", "sha256:"+strings.Repeat("0", 64), ledger.Options{})
	require.NoError(t, err)
	_, err = led.Append(ledger.RunStarted, "", ledger.Data{})
	require.NoError(t, err)
	b := broker.New(broker.Config{
		Workspace: "acme", Agent: "caller", Run: "run-1", Ledger: led, Secrets: secret.NewSet(), Approvals: "granted",
		Pins: broker.Pins{"demo": pins}, Connections: []connection.Config{cfg},
	})
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	token, err := b.Issue("step", broker.Terms{Limit: time.Hour, Tools: grants})
	require.NoError(t, err)

	w := world{dir: t.TempDir()}
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(w.dir, "joy-guest")))
	w.env = []string{
		"PATH=" + w.dir + ":" + filepath.Dir(nodetest.Node(t)) + ":" + os.Getenv("PATH"), "JOY_RUN_TOKEN=" + token, "JOY_API_URL=" + door(t, b),
	}
	return w
}

// door is the step's door, as a port of this machine.
func door(t *testing.T, b *broker.Broker) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.Serve("step", conn)
		}
	}()
	return "http://" + l.Addr().String()
}

// run runs a script as a step would.
func (w world) run(t *testing.T, interpreter, script string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), interpreter, map[bool]string{true: "-e", false: "-c"}[interpreter == "node"], script)
	cmd.Path, _ = exec.LookPath(interpreter)
	if interpreter == "node" {
		cmd.Path = nodetest.Node(t)
	}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.env, w.dir, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func grantsOf(actions ...string) (list []plan.Grant) {
	for _, action := range actions {
		list = append(list, plan.Grant{Action: action})
	}
	return list
}

// The same call, from what a step may be written in.
func TestCallFromScripts(t *testing.T) {
	w := newWorld(t, grantsOf("demo.echo", "demo.get-sum", "demo.get-structured-content")...)
	for name, tc := range map[string]struct{ interpreter, script, want string }{
		"shell": {"sh", `joy-guest call demo.echo message="a b"`, "Echo: a b\n"},
		"stdin": {"sh", `printf '{"message":"from stdin"}' | joy-guest call demo.echo --json -`, "Echo: from stdin\n"},
		"file":  {"sh", `printf 'two\nlines' > note; joy-guest call demo.echo message=@note`, "Echo: two\nlines\n"},
		"typed": {"sh", `joy-guest call demo.get-sum a:=2 b:=40`, "The sum of 2 and 40 is 42.\n"},
		"raw":   {"sh", `joy-guest call demo.echo message=x --raw`, `{"content":[{"type":"text","text":"Echo: x"}]}` + "\n"},
		"python": {"python3", `import json, subprocess
out = subprocess.run(["joy-guest", "call", "demo.get-structured-content", "--json", json.dumps({"location": "Chicago"})],
    check=True, capture_output=True, text=True).stdout
print(sorted(json.loads(out)))`, "['conditions', 'humidity', 'temperature']\n"},
		"node": {"node", `const { execFileSync } = require("child_process")
const out = execFileSync("joy-guest", ["call", "demo.get-structured-content", "--json", JSON.stringify({ location: "Chicago" })])
console.log(Object.keys(JSON.parse(out)).sort().join())`, "conditions,humidity,temperature\n"},
		"curl": {
			"sh", `curl -sS -H "Authorization: Bearer $JOY_RUN_TOKEN" "$JOY_API_URL/v1/call" -d '{"action":"demo.echo","arguments":{"message":"hi"}}'`,
			`{"content":[{"type":"text","text":"Echo: hi"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := w.run(t, tc.interpreter, tc.script)
			require.Zero(t, code, stderr)
			require.Equal(t, tc.want, stdout)
			require.Empty(t, stderr)
		})
	}
}

// A script knows by the exit code why a call did not happen.
func TestCallExitCodes(t *testing.T) {
	grants := append(grantsOf("demo.get-sum"),
		plan.Grant{Action: "demo.echo", With: json.RawMessage(`{"message":"fixed"}`), MaxCalls: 1})
	w := newWorld(t, grants...)
	for _, tc := range []struct {
		script string
		code   int
		said   string
	}{
		{`joy-guest call demo.get-sum a:=1`, 2, "inputSchema"},
		{`joy-guest call demo.get-sum a=1 b=2`, 2, "inputSchema"},
		{`joy-guest call demo.get-env`, 5, "denied by plan, do not retry"},
		{`joy-guest call other.tool`, 5, "denied by plan, do not retry"},
		{`joy-guest call demo.echo message=mine`, 5, "fixes its argument"},
		{`joy-guest call demo.echo`, 0, ""},
		{`joy-guest call demo.echo`, 5, "which are used"},
		{`JOY_RUN_TOKEN=joyrt_x joy-guest call demo.echo`, 5, "run token of this step"},
		{`JOY_API_URL=http://127.0.0.1:1 joy-guest call demo.echo`, 6, "asking the broker"},
		{`env -u JOY_RUN_TOKEN joy-guest tools`, 2, "inside a step"},
	} {
		code, _, stderr := w.run(t, "sh", tc.script)
		require.Equal(t, tc.code, code, "%s: %s", tc.script, stderr)
		require.Contains(t, stderr, tc.said, tc.script)
	}
}

// tools shows what the step is granted, as it is granted.
func TestToolsOfAStep(t *testing.T) {
	w := newWorld(t,
		plan.Grant{Action: "demo.echo", With: json.RawMessage(`{"message":"fixed"}`), MaxCalls: 3}, plan.Grant{Action: "demo.get-sum"})
	code, stdout, stderr := w.run(t, "sh", `joy-guest tools`)
	require.Zero(t, code, stderr)
	require.Equal(t, "demo.echo  (3 calls left)  Echoes back the input string\n"+
		"demo.get-sum  Returns the sum of two numbers\n"+
		"    a (number, required)  First number\n"+
		"    b (number, required)  Second number\n", stdout)
	code, stdout, stderr = w.run(t, "sh", `joy-guest tools --json`)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, `"calls_left":3`)
	require.NotContains(t, stdout, "get-env")
}
