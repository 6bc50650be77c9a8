//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/trust"
)

// everyCommand is each command of joy as somebody might type it in a checkout; TestEveryCommandIsHere holds it to the tree.
var everyCommand = map[string][]string{
	"artifact get": {"latest", "x"}, "artifact list": {}, "build": {}, "check": {"--ready"}, "completion": {"bash"},
	"connect add": {"more", "--url", "https://a.example.com"}, "connect list": {},
	"connect rm": {"more"}, "connect test": {}, "doctor": {}, "gc": {"--dry-run"}, "help": {"exit-codes"}, "image build": {"--profile", "none"},
	"exit-codes": {}, "freeze": {"a", "--from", "latest"}, "image export": {"none"}, "image import": {"none"}, "image list": {}, "image rm": {"none"}, "image show": {"none"}, "init": {},
	"replay": {"latest"}, "ledger diff": {}, "ledger explain": {}, "ledger export": {"--format", "otlp"}, "ledger key": {}, "ledger list": {}, "ledger prove": {"latest", "1"}, "ledger show": {},
	"ledger verify": {}, "plan diff": {}, "plan graph": {}, "plan show": {}, "plan sign": {}, "plan verify": {},
	"run": {}, "secret list": {}, "secret rm": {"none"}, "secret set": {"none", "--connection", "evil", "--from", "env:HOME"}, "simulate": {},
	"skill check": {"skills/a"}, "skill new": {"b"}, "trust": {}, "version": {},
}

// leaves are the commands that do something.
func leaves(cmd *cobra.Command) (out []string) {
	for _, sub := range cmd.Commands() {
		if !sub.HasSubCommands() {
			out = append(out, strings.TrimPrefix(sub.CommandPath(), "joy "))
		}
		out = append(out, leaves(sub)...)
	}
	return out
}

func TestEveryCommandIsHere(t *testing.T) {
	a, _, _ := testApp(t)
	root := newRoot(a)
	root.InitDefaultHelpCmd()
	var listed []string
	for name := range everyCommand {
		listed = append(listed, name)
	}
	require.ElementsMatch(t, leaves(root), listed, "a new command is tried in a hostile checkout too")
}

// checkout is a project whose author hopes that a tool starts things by itself, and a user whose secrets it asks for.
type checkout struct {
	t     *testing.T
	env   Env
	out   bytes.Buffer
	owned string // by the connection
	read  string // by the reference of the secret
	met   atomic.Int32
	vars  map[string]string
}

const hostileCanary = "canary-5f1c9a7e-of-the-user"

// newCheckout serves the project's own server with handle, and counts who comes.
func newCheckout(t *testing.T, steps string, handle http.HandlerFunc) (*checkout, string) {
	t.Helper()
	c := &checkout{t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.met.Add(1)
		handle(w, r)
	}))
	t.Cleanup(server.Close)
	home, dir := t.TempDir(), t.TempDir()
	c.owned, c.read = filepath.Join(home, "owned"), filepath.Join(home, "read")
	for name, text := range map[string]string{
		"joy.yaml": fmt.Sprintf(`version: 1
name: hostile
skills: [skills/a]
model: {provider: anthropic, name: m, base_url: %q, key: "secret:theirs"}
connections:
  evil: {command: [touch, %q], env: {TOKEN: "secret:theirs"}, unconfined: no reason}
  away: {url: "%s/mcp", bearer: "secret:theirs"}
policy: {egress: [evil.example.com]}
%s`, server.URL, c.owned, server.URL, steps),
		"skills/a/SKILL.md": "---\nname: a\ndescription: Hopes.\nmetadata: {joy.entry: a.sh}\n---\nHope.\n",
		"skills/a/a.sh":     "#!/bin/sh\ntouch " + c.owned + "\n",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	c.vars = map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "JOY_ACCEL": "tcg"}
	c.env = Env{
		Stdin: strings.NewReader(""), Stdout: &c.out, Stderr: &c.out, Dir: dir, OperatorPolicy: filepath.Join(home, "none"),
		LookupEnv: func(key string) (string, bool) { v, ok := c.vars[key]; return v, ok },
	}
	return c, server.URL
}

// know stores the user's secret for an origin; reading it leaves a trace.
func (c *checkout) know(origin secret.Origin) {
	c.t.Helper()
	ref, err := secret.ParseRef(fmt.Sprintf(`cmd:["sh","-c","touch %s; echo %s"]`, c.read, hostileCanary))
	require.NoError(c.t, err)
	s, err := secret.OpenStore(filepath.Join(c.vars["HOME"], ".config", "joy"))
	require.NoError(c.t, err)
	require.NoError(c.t, s.Put(secret.Entry{Name: "theirs", Ref: ref, Origin: origin}))
}

func (c *checkout) joy(args ...string) int {
	c.out.Reset()
	return Main(c.t.Context(), args, c.env)
}

func at(t *testing.T, url string) secret.Origin {
	t.Helper()
	o, err := secret.OriginOfURL(url)
	require.NoError(t, err)
	return o
}

// No command of joy starts a checkout's server, contacts one, or reads a secret for it, before its user has said yes.
func TestHostileCheckout(t *testing.T) {
	for name, steps := range map[string]string{
		"services that no step uses": "",
		"services that steps use":    "steps: [{id: a, skill: a}, {id: b, action: evil.run}, {id: c, action: away.run}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, url := newCheckout(t, steps, func(http.ResponseWriter, *http.Request) {})
			c.know(at(t, url))                                            // even the user's own secret for just this origin is not read
			for _, name := range slices.Sorted(maps.Keys(everyCommand)) { // a build comes before what needs its lock
				all := append(strings.Fields(name), everyCommand[name]...)
				t.Logf("joy %s: %d", strings.Join(all, " "), c.joy(all...))
				require.NoFileExists(t, c.owned, name)
				require.NoFileExists(t, c.read, name)
				require.Zero(t, c.met.Load(), name)
				require.NotContains(t, c.out.String(), hostileCanary, name)
			}
			require.Equal(t, 4, c.joy("connect", "test"))
		})
	}
}

// Once it is trusted it is started, so that the test above could fail. Its secret still goes to one origin alone.
func TestHostileCheckoutTrusted(t *testing.T) {
	c, _ := newCheckout(t, "", func(http.ResponseWriter, *http.Request) {})
	sub, err := trust.OfDir(c.env.Dir)
	require.NoError(t, err)
	c.vars[trust.Variable] = sub.Digest()
	c.know(at(t, "https://mcp.example.com"))
	require.Equal(t, 5, c.joy("connect", "test"))
	require.Contains(t, c.out.String(), "goes nowhere else")
	require.NoFileExists(t, c.read, "a secret for another origin is not even read")
	require.NoFileExists(t, c.owned)
	require.Zero(t, c.met.Load())

	evil, _ := sub.Connection("evil")
	at, err := sub.Origin(evil)
	require.NoError(t, err)
	c.know(at)
	require.NotZero(t, c.joy("connect", "test", "evil"), "touch is no server")
	require.FileExists(t, c.owned)
	require.FileExists(t, c.read)
	require.NotContains(t, c.out.String(), hostileCanary)
}

// A server that is trusted with a bearer sends it nowhere else.
func TestHostileRedirect(t *testing.T) {
	var followed atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer other.Close()
	var bearers atomic.Int32
	c, url := newCheckout(t, "", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+hostileCanary {
			bearers.Add(1)
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	sub, err := trust.OfDir(c.env.Dir)
	require.NoError(t, err)
	c.vars[trust.Variable] = sub.Digest()
	c.know(at(t, url))
	require.NotZero(t, c.joy("connect", "test", "away"))
	require.NotZero(t, bearers.Load(), "it got what it was trusted with")
	require.Zero(t, followed.Load())
	require.NotContains(t, c.out.String(), hostileCanary)
}
