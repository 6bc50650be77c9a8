package skill

import (
	"cmp"
	"slices"
)

// Needs is what carrying a skill out as meant requires. It is a need, never a grant.
type Needs struct {
	Sandbox bool // it runs code or commands, or reads, creates or transforms files
	Unsure  bool // Sandbox was not settled and is taken as needed

	Tools    []Need // outside services that it cannot do without, by name
	Network  []Need // hosts it reaches while it runs; what only an installation fetches is left out
	Binaries []Need // programs that it declares to need
	Secrets  []Need // environment variables that it declares to need
	Optional []Need // tools and hosts that it can do without

	Evidence []Evidence // for every verdict above: the sandbox, then tools, then hosts, by name
}

// Kinds of a Need.
const (
	KindAction  = "action"  // named by an action id: connection.tool
	KindMCP     = "mcp"     // an MCP server
	KindService = "service" // an outside service, reached however the reader can
	KindLocal   = "local"   // a program or daemon of the user's own machine
	KindAPI     = "api"     // a host called at run time
	KindBinary  = "binary"
	KindSecret  = "secret"
)

// Need is one thing a skill requires. Name is empty when it is known that there is one and not which.
type Need struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Sandbox determines whether carrying the skill out needs the VM, with the evidence. It never runs out of an answer:
// what stays unsure is required, and an evidence of rule JOY-BOX-UNSURE says so. The same bytes and RulesVersion give
// the same answer, in the same order.
func (b *Bundle) Sandbox() (required bool, evidence []Evidence) {
	j := &judge{b: b}
	required, _, evidence = j.sandbox(j.ask(sandboxRules)[0])
	return required, evidence
}

// Needs judges the bundle. The same bytes and RulesVersion give the same answer, in the same order.
func (b *Bundle) Needs() Needs {
	j := &judge{b: b}
	answers := j.ask(sandboxRules, toolRules, networkRules)
	var n Needs
	n.Sandbox, n.Unsure, n.Evidence = j.sandbox(answers[0])
	for _, w := range j.weigh(answers[1]) {
		switch {
		case w.points >= enough:
			n.Tools = append(n.Tools, w.Need)
			n.Evidence = append(n.Evidence, w.evidence...)
			if w.Kind != KindLocal {
				n.reach(Need{"", KindAPI})
			}
		case w.points+w.optional >= enough:
			n.Optional = append(n.Optional, w.Need)
		}
	}
	for _, w := range j.weigh(answers[2]) {
		switch {
		case w.points >= enough:
			n.reach(w.Need)
			n.Evidence = append(n.Evidence, w.evidence...)
		case w.points+w.optional >= enough && !slices.Contains(n.Optional, w.Need):
			n.Optional = append(n.Optional, w.Need)
		}
	}
	slices.SortFunc(n.Network, byNeed)
	n.Binaries, n.Secrets = b.declared()
	return n
}

// reach adds a host, once. A host without a name is said only while no other is known.
func (n *Needs) reach(host Need) {
	if host.Name != "" {
		n.Network = slices.DeleteFunc(n.Network, func(h Need) bool { return h.Name == "" || h.Name == host.Name })
	} else if len(n.Network) > 0 {
		return
	}
	n.Network = append(n.Network, host)
}

func byNeed(a, b Need) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) }
