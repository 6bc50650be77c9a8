package skill

import (
	"regexp"
	"slices"
)

// Needs is what carrying a skill out as meant requires. It is a need, never a grant.
type Needs struct {
	Sandbox bool // it runs code or commands, or reads, creates or transforms files
	Unsure  bool // Sandbox was not settled and is taken as needed

	Tools    []Need // outside services that it cannot do without
	Network  []Need // hosts it reaches while it runs; what only an installation fetches is left out
	Binaries []Need // programs that it declares to need
	Secrets  []Need // environment variables that it declares to need
	Optional []Need // tools and hosts that it can do without

	Evidence []Evidence // for every verdict above, by verdict, rule and line
}

// Kinds of a Need.
const (
	KindAction  = "action"  // named by an action id: connection.tool
	KindMCP     = "mcp"     // an MCP server
	KindService = "service" // an outside service, reached however the reader can
	KindAPI     = "api"     // a host called at run time
	KindBinary  = "binary"
	KindSecret  = "secret"
)

// Need is one thing a skill requires. Name is empty when it is known that there is one and not which.
type Need struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Needs judges the bundle. The same bytes and RulesVersion give the same answer, in the same order.
func (b *Bundle) Needs() Needs {
	var n Needs
	n.Sandbox, n.Evidence = b.Sandbox()
	n.Unsure = slices.ContainsFunc(n.Evidence, func(e Evidence) bool { return e.Rule == ruleUnsure })
	for _, a := range b.Actions {
		n.add(&n.Tools, Need{connectionOf(a), KindAction}, Evidence{"JOY-TOOL-ACTION", b.skillPath(), b.toolsLine, "it asks for the action " + a})
	}
	for _, l := range b.doc.lines {
		for _, m := range mcpTool.FindAllStringSubmatch(l.text, -1) {
			n.add(&n.Tools, Need{m[1], KindMCP}, Evidence{"JOY-TOOL-MCP", b.skillPath(), l.no, "it names a tool of an MCP server: " + m[0]})
		}
	}
	return n
}

func (n *Needs) add(list *[]Need, need Need, why Evidence) {
	if !slices.Contains(*list, need) {
		*list = append(*list, need)
		n.Evidence = append(n.Evidence, why)
	}
}

var (
	mcpTool   = regexp.MustCompile(`\bmcp__([a-zA-Z0-9_-]+?)__[a-zA-Z0-9_*-]+`)
	firstPart = regexp.MustCompile(`^[^.]+`)
)

func connectionOf(action string) string { return firstPart.FindString(action) }
