package agent

import (
	"errors"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/policy"
)

func (r *reader) triggers(n *yaml.Node) []Trigger {
	var out []Trigger
	r.list(n, "triggers", func(n *yaml.Node) {
		t := Trigger{Missed: "skip"}
		r.object(n, "a trigger", []field{
			{"schedule", true, func(n *yaml.Node) {
				t.Schedule = r.string(n, "schedule").Value
				if err := checkCron(t.Schedule); err != nil && t.Schedule != "" {
					r.fail(n, "schedule %q: %v", t.Schedule, err)
				}
			}},
			{"timezone", true, func(n *yaml.Node) {
				t.Timezone = r.string(n, "timezone").Value
				if !knownZone(t.Timezone) && t.Timezone != "" {
					r.fail(n, "timezone %q is not in the IANA database", t.Timezone).WithHint("write one like Europe/Berlin or UTC")
				}
			}},
			{"missed", false, func(n *yaml.Node) { t.Missed = r.word(n, "missed", "skip", "once") }},
		})
		out = append(out, t)
	})
	return out
}

func (r *reader) model(n *yaml.Node) *Model {
	m := &Model{Pos: place(n), MaxTurns: DefaultMaxTurns, MaxTokens: DefaultMaxTokens}
	r.object(n, "model", []field{
		{"provider", true, func(n *yaml.Node) { m.Provider = r.modelProvider(n) }},
		{"name", true, func(n *yaml.Node) { m.Name = r.string(n, "name").Value }},
		{"base_url", false, func(n *yaml.Node) { m.BaseURL = r.url(n, "base_url") }},
		{"key", false, func(n *yaml.Node) { m.Key = r.secret(n, "key") }},
		{"max_turns", false, func(n *yaml.Node) { m.MaxTurns = r.integer(n, "max_turns", 1000) }},
		{"max_tokens", false, func(n *yaml.Node) { m.MaxTokens = r.integer(n, "max_tokens", 1_000_000_000) }},
		{"max_cost", false, func(n *yaml.Node) { m.MaxCost = r.cost(n) }},
	})
	return m
}

// modelProviders are those whose API joy speaks.
var modelProviders = []string{"anthropic", "openai"}

func (r *reader) modelProvider(n *yaml.Node) string {
	t := r.string(n, "provider")
	if t.Value != "" && !slices.Contains(modelProviders, t.Value) {
		r.fail(n, "joy knows no model provider %q", t.Value).
			WithHint("it is one of %s; a server that speaks OpenAI's API is openai with its base_url", strings.Join(modelProviders, ", "))
	}
	return t.Value
}

func (r *reader) cost(n *yaml.Node) float64 {
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || !jsonNumber.MatchString(n.Value) || err != nil || math.IsInf(v, 0) || v <= 0 {
		r.fail(n, "max_cost must be a number of US dollars above 0").WithHint("max_cost: 1.50")
		return 0
	}
	return v
}

func (r *reader) secret(n *yaml.Node, what string) string {
	return r.matching(n, what, secretRule, secretWords).Value
}

// url takes https, and http to this machine alone: what goes there may carry a credential.
func (r *reader) url(n *yaml.Node, what string) string {
	t := r.string(n, what)
	if t.Value == "" {
		return ""
	}
	switch err := policy.CheckAddress(t.Value); {
	case errors.Is(err, policy.ErrUserInfo):
		r.fail(n, "%s %v", what, err).WithHint("%s", secretWords) // it is not said again
	case err != nil:
		r.fail(n, "%s %q %v", what, t.Value, err)
	}
	return t.Value
}

func (r *reader) skills(n *yaml.Node) []Text {
	out := []Text{}
	r.list(n, "skills", func(n *yaml.Node) { out = append(out, r.path(n, "a path of skills")) })
	if n.Kind == yaml.SequenceNode && len(out) == 0 {
		r.fail(n, "skills is empty")
	}
	return out
}

// path is a place inside the project: relative, forward slashes, without "..".
func (r *reader) path(n *yaml.Node, what string) Text {
	t := r.string(n, what)
	var why string
	switch p := strings.TrimPrefix(strings.TrimSuffix(t.Value, "/"), "./"); {
	case t.Value == "":
		return t
	case strings.HasPrefix(t.Value, "/") || len(p) > 1 && p[1] == ':':
		why = "it must be relative to joy.yaml"
	case strings.ContainsRune(p, '\\'):
		why = "write forward slashes"
	case strings.ContainsFunc(p, func(c rune) bool { return c < ' ' || c == 0x7f }):
		why = "it holds a control character"
	case p == ".." || strings.HasPrefix(path.Clean(p), ".."):
		why = "it leaves the project"
	default:
		t.Value = path.Clean(p)
		return t
	}
	r.fail(n, "%s %q: %s", what, t.Value, why)
	return t
}

func (r *reader) setup(n *yaml.Node) *Setup {
	s := &Setup{Timeout: DefaultSetupTimeout}
	r.object(n, "setup", []field{
		{"run", true, func(n *yaml.Node) { s.Run = r.path(n, "run") }},
		{"egress", false, func(n *yaml.Node) { s.Egress = r.hosts(n) }},
		{"timeout", false, func(n *yaml.Node) { s.Timeout = r.timeout(n) }},
	})
	return s
}

func (r *reader) hosts(n *yaml.Node) []string {
	seen := map[string]bool{}
	out := []string{}
	r.list(n, "egress", func(n *yaml.Node) {
		h := r.string(n, "an entry of egress").Value
		if err := policy.CheckHost(h); err != nil && h != "" {
			r.fail(n, "egress: %v", err)
		} else if seen[h] {
			r.fail(n, "egress: %q is there twice", h)
		}
		seen[h] = true
		out = append(out, h)
	})
	return out
}

func (r *reader) timeout(n *yaml.Node) policy.Duration {
	t := r.string(n, "timeout")
	d, err := policy.ParseDuration(t.Value)
	if err == nil {
		err = policy.CheckTimeout(d)
	}
	if err != nil && t.Value != "" {
		r.fail(n, "timeout: %v", err)
	}
	return d
}

func (r *reader) allow(n *yaml.Node) []Allow {
	var out []Allow
	r.list(n, "allow", func(n *yaml.Node) {
		a := Allow{Pos: place(n)}
		r.object(n, "an entry of allow", []field{
			{"rule", true, func(n *yaml.Node) {
				a.Rule = r.matching(n, "rule", ruleRule, "it is an id such as JOY-CURL-SH, or of the scrubber such as generic-api-key").Value
			}},
			{"file", true, func(n *yaml.Node) { a.File = r.path(n, "file").Value }},
			{"reason", true, func(n *yaml.Node) { a.Reason = r.string(n, "reason").Value }},
		})
		out = append(out, a)
	})
	return out
}

func (r *reader) fixtures(n *yaml.Node) map[string]Text {
	out := map[string]Text{}
	r.each(n, "fixtures", actionRule, func(key string, _, v *yaml.Node) { out[key] = r.path(v, "the file of "+key) })
	return out
}
