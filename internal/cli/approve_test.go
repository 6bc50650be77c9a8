//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/mcptest"
	"github.com/joystream-ai/joy/internal/trust"
)

const crmKey = "canary-0d6b2f1c77aa"

// selling is a frozen project whose one step sends something to a server of the test, at a terminal.
func selling(t *testing.T, p *terminal) (Env, *mcptest.Server) {
	t.Helper()
	server := mcptest.New(t, crmKey, `{"name":"send","inputSchema":{"type":"object"}}`)
	env := visit(t, p, `version: 1
name: selling
image: tiny
connections: {crm: {url: "`+server.URL+`", bearer: "secret:crm"}}
steps:
  - {id: tell, action: crm.send, with: {to: "all\u202e\e[2J", text: "`+strings.Repeat("x", 1000)+`"}}
`)
	home, _ := env.LookupEnv("HOME")
	sub, err := trust.OfDir(env.Dir)
	require.NoError(t, err)
	vars := map[string]string{"HOME": home, "JOY_TRUST": sub.Digest(), "JOY_SECRET_CRM": crmKey, "NO_COLOR": "1"}
	env.LookupEnv = func(key string) (string, bool) { v, ok := vars[key]; return v, ok }
	require.Zero(t, Main(t.Context(), []string{"build", "-q"}, env))
	require.Empty(t, server.Calls())
	return env, server
}

func TestApprovalIsTyped(t *testing.T) {
	for _, c := range []struct {
		before, answer string
		want, calls    int
	}{
		{"", "no", 5, 0},
		{"", "", 5, 0},
		{"", "yes", 5, 0},
		{"", "TELL", 5, 0},
		{"", "\x04", 4, 0}, // the end of input
		{"tell", "no", 5, 0},
		{"", "tell", 0, 1},
	} {
		p := newTerminal(t)
		env, server := selling(t, p)
		if c.before != "" { // typed before there was a question
			p.types(c.before)
			p.until(c.before)
		}
		done := make(chan int)
		go func() { done <- Main(t.Context(), []string{"run"}, env) }()
		p.until("anything else refuses it: ")
		p.types(c.answer)
		p.until("next: ")
		require.Equal(t, c.want, <-done, "%q %q", c.before, c.answer)
		require.Len(t, server.Calls(), c.calls)
	}
}

// A person sees what is sent, where and as whom. Nothing of it acts on the terminal, and every cut says what it hides.
func TestApprovalShowsAllOfIt(t *testing.T) {
	p := newTerminal(t)
	env, server := selling(t, p)
	done := make(chan int)
	go func() { done <- Main(t.Context(), []string{"run"}, env) }()
	p.until("anything else refuses it: ")
	shown := p.seen.String()
	for _, want := range []string{
		"step tell asks to call crm.send", "to    " + server.URL, "as    secret:crm (bearer)", "for this one call", "for 5 minutes", "Type tell to send exactly this",
		`"to": "all\u202e\u001b[2J"`, "[cut here: 613 bytes more]",
	} {
		require.Contains(t, shown, want)
	}
	require.NotContains(t, shown, "\u202e")
	require.NotContains(t, shown, "\x1b[2J")
	require.NotContains(t, shown, crmKey)
	p.types("tell")
	p.until("next: ")
	require.Zero(t, <-done)
	record, err := filepath.Glob(filepath.Join(env.Dir, ".joy/runs/*", ledger.FileName))
	require.NoError(t, err)
	body, err := os.ReadFile(record[0])
	require.NoError(t, err)
	require.Regexp(t, `"type":"approval.granted","step":"tell","data":\{"action":"crm.send","by":"[^"]+, typed","digest":"sha256:`, string(body))
	require.NotContains(t, string(body), crmKey)
}

func TestShownArguments(t *testing.T) {
	long := `{"a":[` + strings.Repeat(`1,`, 300) + `1]}`
	lines := shownArguments([]byte(long))
	require.Len(t, lines, maxShownLines+1)
	require.Regexp(t, `^\[cut here: 185 more lines, \d+ bytes\]$`, lines[maxShownLines])
	require.Equal(t, []string{"no JSON \\x1b"}, shownArguments([]byte("no JSON \x1b")))
	require.Equal(t, []string{"{", `  "b": 1.0,`, `  "a": 9007199254740993`, "}"}, shownArguments([]byte(`{"b":1.0,"a":9007199254740993}`)), "in the order and spelling that is sent")
}
