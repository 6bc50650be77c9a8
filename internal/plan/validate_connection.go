package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/policy"
)

func (v *validator) connections() {
	for _, name := range slices.Sorted(maps.Keys(v.p.Connections)) {
		if v.err != nil {
			return
		}
		c := v.p.Connections[name]
		v.hold(idRule.MatchString(name), name, "the connection name %q is not valid", name)
		v.address(name, c)
		v.secrets(name, c)
		for i, f := range c.Files {
			v.pin(f)
			v.hold(i == 0 || c.Files[i-1].Path < f.Path, f.Path, "connection %s: files are not in order", name)
		}
		for _, tool := range slices.Sorted(maps.Keys(c.Tools)) {
			err := c.Tools[tool].check(tool)
			v.hold(err == nil, tool, "tool %s.%s: %v", name, tool, err)
		}
	}
}

// address holds that there is one way to reach the service, and that nothing is said that has no meaning there.
func (v *validator) address(name string, c Connection) {
	switch c.Transport {
	case Stdio:
		v.hold(c.URL == "", name, "connection %s: a command has no url", name)
		v.hold(len(c.Argv) > 0 && c.Argv[0] != "", name, "connection %s: there is no command", name)
		for _, a := range c.Argv {
			v.hold(!strings.ContainsRune(a, 0), name, "connection %s: a NUL in the command", name)
		}
	case HTTP:
		v.hold(c.URL != "" && c.Argv == nil, name, "connection %s: it needs a url, and no command", name)
		v.hold(policy.CheckAddress(c.URL) == nil, name, "connection %s: url is not the address of a service", name)
		v.hold(len(c.Env) == 0 && len(c.Files) == 0 && c.Unconfined == "", name, "connection %s: a url has no environment, files or confinement", name)
	default:
		v.hold(false, name, "connection %s: transport %q is not known", name, c.Transport)
	}
}

// secrets holds that each variable gets one named secret, and a URL one at most.
func (v *validator) secrets(name string, c Connection) {
	for i, e := range c.Env {
		v.hold(envRule.MatchString(e), e, "connection %s: %q is not the name of a variable", name, e)
		v.hold(i == 0 || c.Env[i-1] < e, e, "connection %s: env is not in order", name)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Secrets)) {
		v.hold(secretRule.MatchString(c.Secrets[key]), key, "connection %s: %s is not secret:NAME", name, key)
	}
	given := slices.Sorted(maps.Keys(c.Secrets))
	if c.Transport == HTTP {
		v.hold(len(given) == 0 || slices.Equal(given, []string{Bearer}), name, "connection %s: a url takes the secret %s alone", name, Bearer)
		return
	}
	v.hold(slices.Equal(given, c.Env), name, "connection %s: env and secrets do not name the same variables", name)
}
