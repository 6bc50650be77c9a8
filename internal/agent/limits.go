package agent

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/policy"
)

func (r *reader) policy(n *yaml.Node, p *policy.Policy) {
	size := func(what string, low, high policy.Size, into *policy.Size) func(*yaml.Node) {
		return func(n *yaml.Node) { *into = r.size(n, what, low, high) }
	}
	r.object(n, "policy", []field{
		{"isolation", false, func(n *yaml.Node) { p.Isolation = r.word(n, "isolation", policy.Isolations...) }},
		{"providers", false, func(n *yaml.Node) { p.Providers = r.providers(n) }},
		{"approvals", false, func(n *yaml.Node) { p.Approvals = r.word(n, "approvals", policy.Approvals...) }},
		{"start", false, func(n *yaml.Node) { p.Start = r.word(n, "start", policy.Starts...) }},
		{"cpus", false, func(n *yaml.Node) { p.CPUs = r.integer(n, "cpus", policy.MaxCPUs) }},
		{"memory", false, size("memory", policy.MinMemory, policy.MaxMemory, &p.Memory)},
		{"disk", false, size("disk", policy.MinDisk, policy.MaxDisk, &p.Disk)},
		{"timeout", false, func(n *yaml.Node) { p.Timeout = r.timeout(n) }},
		{"egress", false, func(n *yaml.Node) { p.Egress = r.hosts(n) }},
		{"artifacts", false, func(n *yaml.Node) {
			r.object(n, "artifacts", []field{
				{"max_file", false, size("max_file", 1, policy.MaxArtifact, &p.Artifacts.MaxFile)},
				{"max_total", false, size("max_total", 1, policy.MaxArtifact, &p.Artifacts.MaxTotal)},
				{"max_files", false, func(n *yaml.Node) { p.Artifacts.MaxFiles = r.integer(n, "max_files", policy.MaxFiles) }},
			})
		}},
	})
}

func (r *reader) providers(n *yaml.Node) []string {
	out := []string{}
	seen := map[string]bool{}
	r.list(n, "providers", func(n *yaml.Node) {
		name := r.word(n, "a provider", policy.Providers...)
		if seen[name] {
			r.fail(n, "the provider %q is there twice", name)
		}
		seen[name] = true
		out = append(out, name)
	})
	if n.Kind == yaml.SequenceNode && len(out) == 0 {
		r.fail(n, "providers is empty: nothing is left to run on")
	}
	return out
}

// size is text with a unit, or a plain number of bytes.
func (r *reader) size(n *yaml.Node, what string, low, high policy.Size) policy.Size {
	if n.Kind != yaml.ScalarNode || !isText(n) && n.ShortTag() != "!!int" {
		r.fail(n, "%s must be a size, not %s", what, kind(n)).WithHint("%s: 512MiB", what)
		return low
	}
	v, err := policy.ParseSize(n.Value)
	switch {
	case err != nil:
		r.fail(n, "%s: %v", what, err)
	case v < low || v > high:
		r.fail(n, "%s is %s, outside %s to %s", what, v, low, high)
	}
	return v
}

// narrow holds that a step and setup reach nothing that the policy does not, and no step outlasts the run.
func (r *reader) narrow(s *Spec) {
	if s.Setup != nil {
		r.within(s.Setup.Run.Pos, "setup", s.Setup.Egress, s.Setup.Timeout, s.Policy)
	}
	for _, step := range s.Steps {
		r.within(step.Pos, "step "+step.ID, step.Egress, step.Timeout, s.Policy)
	}
}

func (r *reader) within(at Pos, who string, egress []string, timeout policy.Duration, p policy.Policy) {
	for _, h := range egress {
		if policy.CheckHost(h) == nil && !policy.Covers(p.Egress, h) {
			r.failAt(at, "%s reaches %s, which policy.egress does not grant", who, h).
				WithHint("policy: {egress: [%s]}", strings.Join(append(p.Egress[:len(p.Egress):len(p.Egress)], h), ", "))
		}
	}
	if timeout > p.Timeout && who != "setup" {
		r.failAt(at, "%s may take %s, longer than the whole run (policy.timeout %s)", who, timeout, p.Timeout)
	}
}
