package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// found is the texts of the secrets that one rule finds.
func found(rule, text string) (list []string) {
	for _, s := range whole(text) {
		if s.Rule == rule {
			list = append(list, text[s.Start:s.End])
		}
	}
	return list
}

// A line may show more than one credential behind one command, or two commands: each is found, once, in whatever pieces the
// text comes.
func TestEachOptionOfACommandIsFound(t *testing.T) {
	a, b, c := "joe:"+random(1, 12, alnum), "ann:"+random(2, 12, alnum), "bob:"+random(3, 12, alnum)
	x, y := random(4, 30, alnum), random(5, 30, alnum)
	bearer := func(token string) string { return `-H "Authorization: Bear` + `er ` + token + `"` }
	far := strings.Repeat("x", 480)
	for name, c := range map[string]struct {
		rule, text string
		want       []string
	}{
		"two commands":              {"curl-auth-user", "curl -u " + a + " x && curl -u " + b + " y\n", []string{a, b}},
		"two of one":                {"curl-auth-user", "curl -u " + a + " x --next --user " + b + " y\n", []string{a, b}},
		"three commands":            {"curl-auth-user", "curl -u " + a + "; curl --user=" + b + "; curl -s -u " + c + "\n", []string{a, b, c}},
		"one with another command":  {"curl-auth-user", "curl -u " + a + " x | ssh -u " + b + " y\n", []string{a, b}},
		"on lines that go on":       {"curl-auth-user", "curl \\\n -u " + a + " \\\n x --next \\\n -u " + b + " y\n", []string{a, b}},
		"on more lines than five":   {"curl-auth-user", "curl " + strings.Repeat("\\\n", 7) + " -u " + a + "\n", []string{a}},
		"in quotes":                 {"curl-auth-user", "curl -u '" + a + "' x; curl -u \"" + b + "\" y\n", []string{"'" + a + "'", `"` + b + `"`}},
		"at the end of a word":      {"curl-auth-user", "(curl -u " + a + ")|x; sh -c 'curl -u " + b + "'; {\"run\": \"curl -u " + c + "\\n\"}\n", []string{a, b, c}},
		"behind the name itself":    {"curl-auth-user", "curl -u curl:" + x + " x; curl -u " + b + " y\n", []string{"curl:" + x, b}},
		"first a place for one":     {"curl-auth-user", "curl -u USER:PASSWORD x; curl -u " + b + " y\n", []string{b}},
		"then a place for one":      {"curl-auth-user", "curl -u " + a + " x; curl -u USER:PASSWORD y\n", []string{a}},
		"two headers":               {"curl-auth-header", "curl " + bearer(x) + " " + bearer(y) + " z\n", []string{x, y}},
		"two commands with headers": {"curl-auth-header", "curl " + bearer(x) + " z; curl " + bearer(y) + " z\n", []string{x, y}},
		"over the end of the window": {
			"curl-auth-user", "curl https://" + far + " -u " + a + x + y + " z\n", []string{a + x + y},
		},
		"as far as is looked":  {"curl-auth-user", "curl " + strings.Repeat("x", 506) + " -u " + a + " z\n", []string{a}},
		"too far away":         {"curl-auth-user", "curl https://" + far + far + " -u " + a + " z\n", nil},
		"another command":      {"curl-auth-user", "ssh -u " + a + " x; curling -u " + b + " y\n", nil},
		"before the command":   {"curl-auth-user", "ssh -u " + a + " x; curl y\n", nil},
		"on a line of its own": {"curl-auth-user", "curl x\nssh -u " + a + " y\n", nil},
		"behind a NUL":         {"curl-auth-user", "curl x\x00ssh -u " + a + " y\n", nil},
		"no space before":      {"curl-auth-user", "curl x-u " + a + " y\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, found(c.rule, c.text))
			for _, n := range []int{1, 5, 100} {
				require.Equal(t, whole(c.text), find(c.text, func() int { return n }), "pieces of %d", n)
			}
		})
	}
}
