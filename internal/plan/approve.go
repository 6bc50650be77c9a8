package plan

import "strings"

// Tool finds the pin of an action, connection.tool.
func (p *Plan) Tool(action string) (Tool, bool) {
	connection, name, _ := strings.Cut(action, ".")
	t, ok := p.Connections[connection].Tools[name]
	return t, ok
}

// Asks reports whether a person is asked before a step calls an action: the step's own word, else the policy's. A tool
// that does not say that it changes nothing is taken for one that does.
func (p *Plan) Asks(s Step, action string) bool {
	switch s.Approve {
	case "granted":
		return false
	case "ask":
		return true
	}
	switch p.Policy.Approvals {
	case "granted":
		return false
	case "ask-all":
		return true
	}
	t, ok := p.Tool(action)
	return !ok || !t.ReadOnly()
}
