package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
)

// Whoever runs a lock starts and contacts what it says of connections, with the credentials that it names.
func TestNoConnectionIsHalfSaid(t *testing.T) {
	drive := func(change func(c *Connection)) func(p *Plan) {
		return func(p *Plan) {
			c := p.Connections["drive"]
			change(&c)
			p.Connections["drive"] = c
		}
	}
	local := func(change func(c *Connection)) func(p *Plan) {
		c := Connection{Transport: Stdio, Argv: []string{"bin/x"}, Env: []string{"A", "B"}, Secrets: map[string]string{"A": "secret:a", "B": "secret:a"}}
		return func(p *Plan) {
			change(&c)
			p.Connections["local"] = c
		}
	}
	tool := func(definition string) func(p *Plan) {
		return func(p *Plan) {
			raw := json.RawMessage(definition)
			p.Connections["drive"].Tools["upload"] = Tool{Digest: digest.Bytes(raw), Definition: raw}
		}
	}
	pin := File{Path: "bin/x", Mode: "0755", SHA256: strings.Repeat("a", 64)}
	for name, tc := range map[string]struct {
		change func(p *Plan)
		want   string
	}{
		"name":               {func(p *Plan) { p.Connections["a.b"] = Connection{} }, "connection name"},
		"transport":          {local(func(c *Connection) { c.Transport = "exec" }), `transport "exec"`},
		"both":               {local(func(c *Connection) { c.URL = "https://x" }), "a command has no url"},
		"no command":         {local(func(c *Connection) { c.Argv = nil }), "no command"},
		"NUL":                {local(func(c *Connection) { c.Argv = []string{"a", "\x00"} }), "a NUL"},
		"no url":             {drive(func(c *Connection) { c.URL = "" }), "needs a url"},
		"url in the open":    {drive(func(c *Connection) { c.URL = "http://drive.example.com" }), "not the address of a service"},
		"url with password":  {drive(func(c *Connection) { c.URL = "https://u:p@drive.example.com" }), "not the address of a service"},
		"url and command":    {drive(func(c *Connection) { c.Argv = []string{"x"} }), "no command"},
		"url unconfined":     {drive(func(c *Connection) { c.Unconfined = "r" }), "no environment"},
		"url with variables": {drive(func(c *Connection) { c.Env, c.Secrets = []string{"A"}, map[string]string{"A": "secret:a"} }), "no environment"},
		"other secret":       {drive(func(c *Connection) { c.Secrets = map[string]string{"A": "secret:a"} }), "bearer alone"},
		"a value":            {drive(func(c *Connection) { c.Secrets = map[string]string{Bearer: "hunter2"} }), "not secret:NAME"},
		"variable":           {local(func(c *Connection) { c.Env[0] = "LD PRELOAD" }), "name of a variable"},
		"variables in order": {local(func(c *Connection) { c.Env = []string{"B", "A"} }), "not in order"},
		"no secret for it":   {local(func(c *Connection) { c.Env = []string{"A", "B", "C"} }), "same variables"},
		"file elsewhere":     {local(func(c *Connection) { f := pin; f.Path = "../x"; c.Files = []File{f} }), "leaves its directory"},
		"files in order":     {local(func(c *Connection) { c.Files = []File{pin, pin} }), "not in order"},
		"tool digest":        {func(p *Plan) { p.Connections["drive"].Tools["upload"] = Tool{Digest: "sha256:x"} }, "tool drive.upload: the digest"},
		"another tool":       {tool(`{"name":"remove"}`), `of another tool, "remove"`},
		"a name in capitals": {tool(`{"NAME":"upload"}`), "of another tool"},
		"no object":          {tool(`["upload"]`), "of another tool"},
		"no definition":      {tool(``), "of another tool"},
		"too deep":           {tool(nested(maxNesting + 1)), "nested more than 128 levels"},
		"too large":          {tool(`{"name":"upload","x":"` + strings.Repeat("x", MaxDefinition) + `"}`), "a lock keeps at most"},
	} {
		p := sample(t)
		tc.change(p)
		_, err := Decode(encode(t, p), "joy.lock")
		require.ErrorContains(t, err, tc.want, name)
	}
}

// odd is a definition as only a server would write it.
const odd = `{"description":"é \"[{\\","inputSchema":{"maximum":9007199254740993,"type":"object"},"name":"upload","x-custom":[18446744073709551615,1.0,1e400,-0]}`

// nested is a definition of so many levels.
func nested(levels int) string {
	return `{"name":"upload","x":` + strings.Repeat("[", levels-1) + `"]]\\\""` + strings.Repeat("]", levels-1) + `}`
}

func TestWhatIsPinnedCanBeRead(t *testing.T) {
	p := sample(t)
	var err error
	p.Connections["drive"].Tools["upload"], err = PinTool("upload", json.RawMessage(nested(maxNesting)))
	require.NoError(t, err)
	_, err = Decode(encode(t, p), "joy.lock")
	require.NoError(t, err)
	for definition, want := range map[string]string{
		nested(maxNesting + 1): "124 levels deep",
		`{"name":"other"}`:     `of another tool, "other"`,
		`{"name":"upload"`:     "malformed",
		`{"name":"upload","x":"` + strings.Repeat("x", MaxDefinition) + `"}`: "a lock keeps at most",
	} {
		_, err := PinTool("upload", json.RawMessage(definition))
		require.ErrorContains(t, err, want)
	}
}

func TestDefinitionsKeepTheirNumbers(t *testing.T) {
	p := sample(t)
	pinned, err := PinTool("upload", json.RawMessage(" "+odd+"\n"))
	require.NoError(t, err)
	require.Equal(t, odd, string(pinned.Definition))
	p.Connections["drive"].Tools["upload"] = pinned
	data := encode(t, p)
	got, err := Decode(data, "joy.lock")
	require.NoError(t, err)
	require.Equal(t, odd, string(got.Connections["drive"].Tools["upload"].Definition))
	require.Equal(t, string(data), string(encode(t, got)))

	was := p.Digest
	for _, same := range [][2]string{{"1.0", "1"}, {"9007199254740993", "9007199254740992"}, {"1e400", "1E400"}, {"-0", "0"}} {
		edited := strings.Replace(string(data), same[0], same[1], 1)
		require.NotEqual(t, string(data), edited)
		_, err := Decode([]byte(edited), "joy.lock")
		require.ErrorContains(t, err, "the digest does not fit its definition", same[1])
	}
	swapped := strings.Replace(string(data), `"maximum": 9007199254740993,`, `"type": "object",`, 1)
	swapped = strings.Replace(swapped, "\"type\": \"object\"\n            },\n            \"name\"", "\"maximum\": 9007199254740993\n            },\n            \"name\"", 1)
	require.Len(t, swapped, len(data))
	_, err = Decode([]byte(swapped), "joy.lock")
	require.ErrorContains(t, err, "not what joy writes here", "another order of keys")

	p.Connections["drive"].Tools["upload"] = Tool{Digest: digest.Bytes([]byte("x")), Definition: pinned.Definition}
	require.NotEqual(t, got.Digest, was)
	now, err := Digest(p)
	require.NoError(t, err)
	require.NotEqual(t, got.Digest, now, "the digest of a plan is over those of its tools")
}

func TestBigNumbersElsewhereAreRefused(t *testing.T) {
	p := sample(t)
	p.Steps[0].With = json.RawMessage(`{"n":9007199254740993}`)
	_, err := Encode(p)
	require.ErrorContains(t, err, "2^53")
	data := strings.Replace(string(encode(t, sample(t))), `"n": 10`, `"n": 9007199254740993`, 1)
	_, err = Decode([]byte(data), "joy.lock")
	require.ErrorContains(t, err, "2^53")
}

func TestWhoIsAsked(t *testing.T) {
	for _, tc := range []struct {
		approvals, approve, annotations string
		asks                            bool
	}{
		{"ask-risky", "", `{}`, true},
		{"ask-risky", "", `{"readOnlyHint":true}`, false},
		{"ask-risky", "", `{"readOnlyHint":"true"}`, true},
		{"ask-risky", "", `{"READONLYHINT":true}`, true},
		{"ask-risky", "ask", `{"readOnlyHint":true}`, true},
		{"ask-risky", "granted", `{}`, false},
		{"ask-all", "", `{"readOnlyHint":true}`, true},
		{"ask-all", "granted", `{}`, false},
		{"granted", "", `{}`, false},
		{"granted", "ask", `{"readOnlyHint":true}`, true},
	} {
		p := sample(t)
		var err error
		p.Connections["drive"].Tools["upload"], err = PinTool("upload", json.RawMessage(`{"name":"upload","annotations":`+tc.annotations+`}`))
		require.NoError(t, err)
		p.Policy.Approvals = tc.approvals
		require.Equal(t, tc.asks, p.Asks(Step{Approve: tc.approve}, "drive.upload"), tc)
		require.Equal(t, tc.approvals != "granted", p.Asks(Step{}, "drive.unknown"))
	}
}
