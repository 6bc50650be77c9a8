package build

import (
	_ "embed"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/skill"
)

// RuleNeed is the rule of a need that nothing grants.
const RuleNeed = "JOY-NEED"

// need makes the finding of one need, with the line of joy.yaml that would grant it.
func (b *builder) need(s bundle, severity, name, grant, format string, args ...any) plan.Finding {
	f := plan.Finding{Rule: RuleNeed, Severity: severity, File: s.skillFile, Message: fmt.Sprintf(format, args...) + "; in joy.yaml: " + grant}
	for _, e := range s.needs.Evidence {
		if name != "" && e.File == s.skillFile && strings.Contains(strings.ToLower(e.Detail), strings.ToLower(name)) {
			f.Line = e.Line
			break
		}
	}
	return f
}

// ungranted compares what a bundle needs with what the plan grants the steps that use it. A need is no grant, and
// neither is a request: nothing here changes what a step may do. What a bundle says of itself in its front matter is a
// warning; what its text suggests is a note where that names nothing.
func (b *builder) ungranted(s bundle) []plan.Finding {
	var steps []plan.Step
	for _, step := range b.plan.Steps {
		if step.Skill == s.pin.Name {
			steps = append(steps, step)
		}
	}
	return slices.Concat(b.ungrantedTools(s, steps), b.ungrantedHosts(s, steps), b.ungrantedSecrets(s), b.missingPrograms(s, steps))
}

func (b *builder) ungrantedTools(s bundle, steps []plan.Step) (out []plan.Finding) {
	granted := map[string]bool{} // actions and connections; "" is any
	services := ""
	grant := func(action string) {
		connection, _ := split(action)
		granted[action], granted[connection], granted[""] = true, true, true
		services += b.serves(connection)
	}
	for _, step := range steps {
		for _, g := range step.Tools {
			grant(g.Action)
		}
	}
	asked := map[string]bool{}
	for _, a := range s.actions {
		connection, _, _ := strings.Cut(a, ".")
		asked[connection] = true
		if granted[a] {
			continue
		}
		line, why := fmt.Sprintf("tools: [{action: %s}]", a), "which no step grants"
		if _, declared := b.spec.Connections[connection]; !declared {
			line = fmt.Sprintf("connections: {%s: …} and in the step %s", connection, line)
			why = "and no connection " + connection + " is declared"
		}
		out = append(out, b.need(s, skill.SeverityWarning, a, line, "it asks to call %s, %s", a, why))
	}
	for _, step := range b.plan.Steps { // an action step calls for the skill what the skill speaks of
		if step.Kind == plan.Action {
			grant(step.Action)
		}
	}
	for _, n := range s.needs.Tools {
		if granted[n.Name] || asked[n.Name] || n.Kind == skill.KindAction || strings.Contains(services, plain(n.Name)) {
			continue
		}
		line := fmt.Sprintf("connections: {%s: …} and in the step tools: [{action: %s.TOOL}]", n.Name, n.Name)
		switch {
		case n.Name == "":
			out = append(out, b.need(s, skill.SeverityNote, "", "connections and tools", "it works with an outside service that it does not name"))
		case n.Kind == skill.KindMCP:
			out = append(out, b.need(s, skill.SeverityWarning, n.Name, line, "it calls tools of the MCP server %s, which no step grants", n.Name))
		case n.Kind == skill.KindService:
			out = append(out, b.need(s, skill.SeverityNote, n.Name, line, "it works with %s, and no step grants a tool of such a connection", n.Name))
		}
	}
	return out
}

// serves is what the address, the command and the server of a connection call themselves, as words: of a connection
// named tracker at mcp.linear.app the skill may speak as linear.
func (b *builder) serves(connection string) string {
	c := b.plan.Connections[connection]
	names := c.Argv
	if u, err := url.Parse(c.URL); err == nil {
		names = append(slices.Clone(names), u.Hostname())
	}
	if c.Server != nil {
		names = append(slices.Clone(names), c.Server.Name)
	}
	return plain(strings.Join(names, " "))
}

// plain is a name as lower-case words with a space around each.
func plain(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return " " + strings.Join(words, " ") + " "
}

func (b *builder) ungrantedHosts(s bundle, steps []plan.Step) (out []plan.Finding) {
	for _, n := range s.needs.Network {
		reached := func(step plan.Step) bool { return policy.Covers(step.Egress, n.Name) }
		if policy.CheckHost(n.Name) != nil || slices.ContainsFunc(steps, reached) || b.connected(n.Name) {
			continue
		}
		out = append(out, b.need(s, skill.SeverityWarning, n.Name, fmt.Sprintf("policy: {egress: [%s]}", n.Name),
			"it reaches %s while it runs, which no step grants", n.Name))
	}
	return out
}

// connected reports a host that a declared connection speaks to: that is joy's to reach, not the VM's.
func (b *builder) connected(host string) bool {
	for _, c := range b.spec.Connections {
		if u, err := url.Parse(c.URL); err == nil && u.Hostname() == host {
			return true
		}
	}
	return false
}

// ungrantedSecrets tells that no credential enters a VM, to bundles that expect one in their environment.
func (b *builder) ungrantedSecrets(s bundle) (out []plan.Finding) {
	for _, n := range s.needs.Secrets {
		held := false
		for _, c := range b.spec.Connections {
			_, ok := c.Env[n.Name]
			held = held || ok
		}
		if !held {
			out = append(out, b.need(s, skill.SeverityWarning, n.Name,
				fmt.Sprintf(`connections: {NAME: {command: […], env: {%s: "secret:NAME"}}}, and let the step call its tools`, n.Name),
				"it expects %s in its environment, and no credential ever enters the VM", n.Name))
		}
	}
	return out
}

//go:embed programs/tiny.txt
var tinyPrograms string

//go:embed programs/base.txt
var basePrograms string

//go:embed programs/full.txt
var fullPrograms string

type profilePrograms struct{ profile, names string } // names: one a line, with a line end on both sides

// programs is what is on PATH in each profile of image, the smallest first; full has what base has, too.
var programs = []profilePrograms{
	{"tiny", "\n" + tinyPrograms},
	{"base", "\n" + basePrograms},
	{"full", "\n" + basePrograms + fullPrograms},
}

// missingPrograms compares what a bundle declares, and what its entry point starts with, with the image's profile. An
// image named by digest, and one that a setup script adds to, may have anything.
func (b *builder) missingPrograms(s bundle, steps []plan.Step) (out []plan.Finding) {
	if b.spec.Setup != nil || !slices.ContainsFunc(steps, plan.Step.NeedsVM) {
		return nil
	}
	names := map[string]bool{}
	for _, n := range s.needs.Binaries {
		names[n.Name] = true
	}
	if s.entry != nil && len(s.entry.Argv) > 0 {
		names[path.Base(s.entry.Argv[0])] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if has, grant := inImage(b.spec.Image.Value, name); !has {
			out = append(out, b.need(s, skill.SeverityWarning, name, grant, "it needs the program %s, which the image %s has not", name, b.spec.Image.Value))
		}
	}
	return out
}

// inImage reports a program of a profile, else the line that would bring it.
func inImage(profile, name string) (has bool, grant string) {
	there := func(i int) bool { return strings.Contains(programs[i].names, "\n"+name+"\n") }
	at := slices.IndexFunc(programs, func(p profilePrograms) bool { return p.profile == profile })
	if at < 0 || there(at) {
		return true, ""
	}
	for i := at + 1; i < len(programs); i++ {
		if there(i) {
			return false, "image: " + programs[i].profile
		}
	}
	return false, "setup: {run: scripts/setup.sh, egress: […]}, with a script that installs it"
}

// SmallestProfile is the smallest profile of image that has all programs; "base" when none has.
func SmallestProfile(names []string) string {
	for _, p := range programs {
		if !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(p.names, "\n"+name+"\n") }) {
			return p.profile
		}
	}
	return "base"
}
