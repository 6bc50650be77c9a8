package operator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "p.yaml:1:1: the policy is empty",
		"[]":                                  "p.yaml:1:1: want a mapping",
		"isolation: any":                      "p.yaml:1:1: the policy has no version",
		"version: 2":                          "p.yaml:1:10: version 2 is not known",
		"version: '1'":                        "p.yaml:1:10: version 1 is not known",
		"version: 1\nisolaton: hardware":      `p.yaml:2:1: unknown key "isolaton"`,
		"version: 1\nisolation: strong":       `p.yaml:2:12: "strong" is none of any, hardware`,
		"version: 1\nstart: [cold]":           "p.yaml:2:8: want text",
		"version: 1\nstart: cold\nstart: any": "p.yaml:3:1: start is there twice",
		"version: 1\negress:":                 "p.yaml:2:1: egress has no value",
		"version: 1\negress: a.com":           "p.yaml:2:9: want a list",
		"version: 1\negress: [10.0.0.1]":      "p.yaml:2:10:",
		"version: 1\negress: [https://a.com]": "leave out the scheme",
		"version: 1\nproviders: [docker]":     `"docker" is none of`,
		"version: 1\nunconfined: 'no'":        "want true or false",
		"version: 1\nunconfined: no":          "want true or false",
		"version: 1\nconnections: [{}]":       "a url or a command",
		"version: 1\nconnections: [{url: 'https://a.com', command: [x]}]": "only one",
		"version: 1\nconnections: [{url: 'a.com'}]":                       "want https://host/path",
		"version: 1\nconnections: [{url: 'https://a.com/../b'}]":          "holds . or ..",
		"version: 1\nconnections: [{URL: 'https://a.com'}]":               `unknown key "URL"`,
		"version: 1\nmodels: [{provider: x}]":                             "a provider and a name",
		"version: 1\nspend: {max_cost: 0}":                                "above 0",
		"version: 1\nspend: {max_cost: .inf}":                             "above 0",
		"version: 1\nspend: {max_cost: .nan}":                             "above 0",
		"version: 1\nspend: {max_cost: '1'}":                              "above 0",
		"version: 1\nspend: {max_turns: 0}":                               "whole number from 1",
		"version: 1\nlimits: {memory: 4GB}":                               "is not a size",
		"version: 1\nlimits: {memory: [4GiB]}":                            "is not a size",
		"version: 1\nlimits: {timeout: 5}":                                "is not a duration",
		"version: 1\nlimits: {cpus: 1.5}":                                 "whole number",
		"version: 1\nlimits: {swap: 1GiB}":                                `unknown key "swap"`,
		"version: 1\nsignatures: []":                                      "names no key",
		"version: 1\nsignatures: [alice]":                                 "public key",
		"version: 1\negress: &a [a.com]":                                  "an alias, anchor or tag",
		"version: 1\negress: !!seq [a.com]":                               "an alias, anchor or tag",
		"version: 1\n---\nversion: 1":                                     "one document",
		"version: 1\n\tx: 1":                                              "p.yaml:2:",
		"version: 1\nlimits: [{a: [{b: [{c: [{d: [{e: 1}]}]}]}]}]":        "nested more than 8 deep",
	} {
		_, err := Parse([]byte(text), "p.yaml")
		require.ErrorContains(t, err, want, text)
		require.Equal(t, fault.Input, fault.KindOf(err), text)
	}
}

func TestMatchURL(t *testing.T) {
	for pattern, urls := range map[string][]string{
		"https://mcp.example.com/*": {
			"http://mcp.example.com/x", "https://mcp.example.com:8443/x", "https://evil.example/https://mcp.example.com/",
			"https://mcp.example.com.evil.example/x", "https://evil.example/#mcp.example.com/", "https://mcp.example.com@evil.example/x",
			"https://mcp.example.com", "https://mcp.example.com/a?x=1", "ftp://mcp.example.com/x", "::",
		},
		"https://*.example.com": {"https://example.com", "https://evil.example/.example.com", "https://a.example.com:1"},
		"https://a.com/drive/*": {"https://a.com/drive/../x", "https://a.com/drive/%2e%2e/x", "https://a.com/drive%2fx", "https://a.com/other", "https://a.com/drive/%5C..%5Cx"},
		"https://a.com/drive":   {"https://a.com/drive/x", "https://a.com/"},
	} {
		for _, u := range urls {
			require.False(t, matchURL(pattern, u), "%s %s", pattern, u)
		}
	}
	for pattern, u := range map[string]string{
		"https://mcp.example.com/*": "https://mcp.example.com:443/a/b", "https://a.com": "https://A.com/any/path",
		"https://*.example.com/m*p": "https://x.y.example.com/map", "http://localhost:8080": "http://localhost:8080/mcp",
	} {
		require.True(t, matchURL(pattern, u), "%s %s", pattern, u)
	}
}

func TestMatchCommand(t *testing.T) {
	npx := Connection{Command: []string{"npx", "-y", "@mcp/server-*", "**"}}
	for _, argv := range [][]string{nil, {"npx"}, {"npx", "-y"}, {"npx", "-y", "@evil/x"}, {"npx", "@mcp/server-x", "-y"}, {"sh", "-c", "npx -y @mcp/server-x"}} {
		require.False(t, npx.matchesCommand(argv), "%q", argv)
	}
	require.True(t, npx.matchesCommand([]string{"npx", "-y", "@mcp/server-x"}))
	require.True(t, npx.matchesCommand([]string{"npx", "-y", "@mcp/server-x", "/", "y"}))
	require.False(t, Connection{Command: []string{"x", "*"}}.matchesCommand([]string{"x"}))
	require.False(t, Connection{}.matchesCommand(nil))
}

func TestGlob(t *testing.T) {
	for _, no := range [][2]string{{"a", ""}, {"", "a"}, {"a*b", "ac"}, {"*a", "ab"}, {"a*a", "a"}, {"a.c", "abc"}} {
		require.False(t, glob(no[0], no[1]), "%q", no)
	}
	for _, yes := range [][2]string{{"", ""}, {"*", ""}, {"**", "x"}, {"a*b*c", "a-b-b-c"}, {"*a", "baa"}, {"a*", "a"}} {
		require.True(t, glob(yes[0], yes[1]), "%q", yes)
	}
}

func TestLineOf(t *testing.T) {
	doc := []byte("{\n \"a\": {\n  \"b\": [1,\n   {\"c\": 2}]\n },\n \"d\": 3}")
	for want, path := range map[int][]string{2: {"a"}, 3: {"a", "b"}, 4: {"a", "b", "1", "c"}, 6: {"d"}} {
		require.Equal(t, want, lineOf(doc, path...))
	}
	for _, path := range [][]string{{"x"}, {"a", "x"}, {"a", "b", "7"}, {"d", "x"}} {
		require.Zero(t, lineOf(doc, path...))
	}
	require.Zero(t, lineOf([]byte("{"), "a"))
	require.Zero(t, lineOf(nil, "a"))
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "policy.yaml")
	ps, err := Load(path, filepath.Join(dir, "none", "policy.yaml"))
	require.NoError(t, err)
	require.Empty(t, ps)
	require.Empty(t, ps.Digest())

	const text = "version: 1\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	ps, err = Load(path, path)
	require.NoError(t, err)
	require.Equal(t, digest.Bytes([]byte(text)), ps[:1].Digest())
	require.NotEqual(t, ps[:1].Digest(), ps.Digest())

	refused := func(want string) {
		t.Helper()
		_, err := Load(path)
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.Policy, fault.KindOf(err), "nothing is allowed")
	}
	require.NoError(t, os.Chmod(path, 0o666))
	refused("others may write it")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	refused("not an ordinary file")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, make([]byte, MaxBytes+1), 0o600))
	refused("larger than 1 MiB")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\nx: y\n"), 0o600))
	_, err = Load(path)
	require.Equal(t, fault.Input, fault.KindOf(err))
}

// FuzzParse holds that no policy a person may write ends joy, and that one which is read is read the same way again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"version: 1\n", "version: 1\nlimits: {cpus: 2}\n", "version: 1\nconnections: [{url: 'https://a.com/*'}]\n", "a: &b [*b]", "? [a]\n: b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data, "p.yaml")
		if err != nil {
			require.Equal(t, fault.Input, fault.KindOf(err))
			return
		}
		again, err := Parse(data, "p.yaml")
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}
