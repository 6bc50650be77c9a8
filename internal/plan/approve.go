package plan

import "strings"

// Tool finds the pin of an action, connection.tool.
func (p *Plan) Tool(action string) (Tool, bool) {
	connection, name, _ := strings.Cut(action, ".")
	t, ok := p.Connections[connection].Tools[name]
	return t, ok
}

// Asks reports whether a person is asked before a step calls an action. A tool that does not say that it changes nothing is
// taken for one that does.
func (p *Plan) Asks(s Step, action string) bool {
	t, ok := p.Tool(action)
	return NeedsApproval(p.Policy.Approvals, s.Approve, ok && t.ReadOnly())
}

// NeedsApproval is the rule of Asks: approve is the step's own word, which comes first, mode the policy's approvals, and
// readOnly the tool's claim.
func NeedsApproval(mode, approve string, readOnly bool) bool {
	switch approve {
	case "granted":
		return false
	case "ask":
		return true
	}
	switch mode {
	case "granted":
		return false
	case "ask-all":
		return true
	}
	return !readOnly
}
