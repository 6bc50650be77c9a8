package operator

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/joystream-ai/joy/internal/policy"
)

// glob matches text against a pattern in which * is any characters, in time linear in their product at worst and without
// recursion.
func glob(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matches compares argument lists word by word. ** as the last word of the pattern is any further arguments.
func (c Connection) matchesCommand(argv []string) bool {
	want := c.Command
	if n := len(want); n > 0 && want[n-1] == "**" {
		if len(argv) < n-1 {
			return false
		}
		want, argv = want[:n-1], argv[:n-1]
	}
	if len(c.Command) == 0 || len(want) != len(argv) {
		return false
	}
	for i := range want {
		if !glob(want[i], argv[i]) {
			return false
		}
	}
	return true
}

// address is a URL in parts that are compared each by itself, so that no part can pose as another.
type address struct{ scheme, host, port, path string }

// parseURL reads a URL, or a pattern of one. What a server could read in another way than joy is refused.
func parseURL(text string) (address, error) {
	u, err := url.Parse(text)
	bad := func(why string) (address, error) { return address{}, fmt.Errorf("%.200q: %s", text, why) }
	ports := map[string]string{"https": "443", "http": "80"}
	if err != nil || ports[u.Scheme] == "" || u.Hostname() == "" || u.Opaque != "" {
		return bad("want https://host/path")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return bad("want a scheme, a host and a path, and nothing else")
	}
	a := address{u.Scheme, strings.ToLower(u.Hostname()), u.Port(), u.EscapedPath()}
	if a.port == "" {
		a.port = ports[a.scheme]
	}
	low := strings.ToLower(a.path)
	if strings.Contains(low, "%2e") || strings.Contains(low, "%2f") || strings.ContainsRune(a.path, '\\') || strings.Contains(low, "%5c") {
		return bad("the path holds an escaped dot or slash")
	}
	for _, part := range strings.Split(a.path, "/") {
		if part == "." || part == ".." {
			return bad("the path holds . or ..")
		}
	}
	return a, nil
}

// matchURL holds a URL against a pattern. A pattern without a path is every path.
func matchURL(pattern, text string) bool {
	want, err := parseURL(pattern)
	if err != nil {
		return false
	}
	got, err := parseURL(text)
	if err != nil || want.scheme != got.scheme || want.port != got.port {
		return false
	}
	if want.host != got.host && !policy.Covers([]string{want.host}, got.host) {
		return false
	}
	return want.path == "" || glob(want.path, got.path)
}
