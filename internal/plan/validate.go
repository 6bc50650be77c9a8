package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/policy"
)

// MaxSteps is how many steps a plan may have.
const MaxSteps = 2000

var (
	idRule     = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	envRule    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	secretRule = regexp.MustCompile(`^secret:[A-Za-z0-9_-]{1,64}$`)
	profiles   = []string{"tiny", "base", "full", ""}
)

// validator stops at the first thing that no build could have written.
type validator struct {
	p    *Plan
	data []byte
	file string
	err  error
}

func validate(p *Plan, data []byte, file string) error {
	v := &validator{p: p, data: data, file: file}
	for _, part := range []func(){v.agent, v.policy, v.skills, v.connections, v.image, v.steps, v.graph} {
		if part(); v.err != nil {
			return v.err
		}
	}
	return nil
}

// hold records the first rule that does not hold. near is a text that stands in the line to point at.
func (v *validator) hold(ok bool, near, format string, args ...any) {
	if ok || v.err != nil {
		return
	}
	line := 0
	if quoted, err := plainJSON(near); err == nil && near != "" {
		if i := strings.Index(string(v.data), string(quoted)); i >= 0 {
			line = lineAt(v.data, i)
		}
	}
	v.err = lockFault(fault.Input, v.file, line, format, args...).WithHint("no build writes this; freeze again with: joy build")
}

func (v *validator) agent() {
	a := v.p.Agent
	v.hold(idRule.MatchString(a.Name), a.Name, "agent.name %q is not valid", a.Name)
	v.hold(idRule.MatchString(a.Workspace), a.Workspace, "agent.workspace %q is not valid", a.Workspace)
	if a.Spec != (File{}) {
		v.pin(a.Spec)
	}
	if m := v.p.Model; m != nil {
		v.hold(m.Provider != "" && m.Name != "", m.Provider, "model has no provider or no name")
		v.hold(m.BaseURL == "" || policy.CheckAddress(m.BaseURL) == nil, "base_url", "model.base_url is not the address of a service")
		v.hold(m.Key == "" || secretRule.MatchString(m.Key), m.Key, "model.key is not secret:NAME")
		v.hold(m.MaxTurns > 0 && m.MaxTokens > 0 && m.MaxCost >= 0, "max_turns", "a limit of model is negative or missing")
	}
	for _, t := range v.p.Triggers {
		v.hold(t.Missed == "skip" || t.Missed == "once", t.Missed, "missed %q is neither skip nor once", t.Missed)
	}
	for _, a := range v.p.Allow {
		v.hold(a.Rule != "" && a.Reason != "", a.Rule, "an entry of allow has no rule or no reason")
	}
}

// pin holds what keeps every later read and write below the directory it is meant for.
func (v *validator) pin(f File) {
	v.hold(CleanPath(f.Path), f.Path, "the path %q leaves its directory or is not portable", f.Path)
	v.hold(f.Mode == digest.ModePlain || f.Mode == digest.ModeExec, f.Path, "%s has mode %q", f.Path, f.Mode)
	v.hold(f.Size >= 0, f.Path, "%s has a negative size", f.Path)
	v.hold(digest.Valid("sha256:"+f.SHA256), f.Path, "%s has a sha256 that is not one", f.Path)
}

func (v *validator) policy() {
	if err := v.p.Policy.Check(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		v.hold(false, "policy", "policy.%s", first)
	}
	if s := v.p.Setup; s != nil {
		v.pin(s.Run)
		v.command(s.Argv, "setup")
		v.egress("setup", s.Egress)
		v.hold(policy.CheckTimeout(s.Timeout) == nil, s.Run.Path, "setup.timeout %s is out of bounds", s.Timeout)
	}
}

func (v *validator) egress(who string, names []string) {
	v.hold(policy.CheckHosts(names) == nil, "egress", "%s: egress holds what is not a host name", who)
	for _, n := range names {
		v.hold(policy.Covers(v.p.Policy.Egress, n), n, "%s reaches %s, which policy.egress does not grant", who, n)
	}
}

func (v *validator) skills() {
	v.hold(len(v.p.Skills) <= MaxSteps, "skills", "a plan has at most %d skills, not %d", MaxSteps, len(v.p.Skills))
	seen := map[string]bool{}
	for _, s := range v.p.Skills {
		v.hold(digest.CheckName(s.Name) == nil && !seen[s.Name], s.Name, "skill name %q is not valid, or there twice", s.Name)
		seen[s.Name] = true
		v.hold(s.Path == "." || CleanPath(s.Path), s.Path, "skill %s: the path %q leaves the project", s.Name, s.Path)
		files := make([]digest.File, 0, len(s.Files))
		for i, f := range s.Files {
			v.pin(f)
			v.hold(i == 0 || s.Files[i-1].Path < f.Path, f.Path, "skill %s: files are not in order", s.Name)
			files = append(files, digest.File(f))
		}
		v.hold(len(files) > 0 && s.Digest == digest.Tree(files), s.Digest, "skill %s: the digest does not fit its files", s.Name)
	}
}

func (v *validator) image() {
	i := v.p.Image
	v.hold(slices.Contains(profiles, i.Profile), i.Profile, "image.profile %q is not known", i.Profile)
	for _, d := range []*string{i.Microvm.AMD64, i.Microvm.ARM64, i.Kata.AMD64, i.Kata.ARM64} {
		if d != nil {
			v.hold(digest.Valid(*d), *d, "an image pin %q is not a digest", *d)
		}
	}
}

func (v *validator) graph() {
	if cycle := Cycle(v.p); cycle != nil {
		v.hold(false, cycle[0], "steps need each other: %s", strings.Join(cycle, " → "))
	}
}
