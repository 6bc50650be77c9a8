package account

import (
	"maps"
	"slices"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// Activity is something that took time: a step, a VM, a command, a call, a connection, a question, a wait.
type Activity struct {
	What  string // the first part of its types: step, sandbox, command, model, tool, egress, approval, run
	Start verify.Entry
	End   *verify.Entry // nil: the ledger has no end of it, so its outcome is unknown
}

// Moment collects what was under way at a moment, and what happened in it, with texts cut to 8 KiB an entry.
type Moment struct {
	When   When
	During []verify.Entry // of it, without their bytes: the first maxDuring
	More   int            // entries of it that During has not
	Lost   int            // starts that came when maxUnderWay were under way, and are not told of

	open   map[int64]*Activity // by the seq of its start
	ofStep map[string]int64    // a step, or the run's waiting, to its start: their ends do not name it
}

// endOf maps the type of an end to what it ends. A VM has ended when it was destroyed or lost.
var endOf = map[string]string{
	"step.finished": "step", "sandbox.destroyed": "sandbox", "sandbox.lost": "sandbox", "command.finished": "command",
	"model.replied": "model", "tool.returned": "tool", "egress.closed": "egress", "approval.granted": "approval",
	"approval.denied": "approval", "run.resumed": "run",
}

var startOf = map[string]string{
	"step.started": "step", "sandbox.requested": "sandbox", "command.started": "command", "model.requested": "model",
	"tool.requested": "tool", "egress.allowed": "egress", "approval.requested": "approval", "run.waiting": "run",
}

// maxDuring is how many entries of a moment are kept, and maxUnderWay how many activities.
const (
	maxDuring   = 5000
	maxUnderWay = 5000
)

// Add takes the ledger's entries one after the other. It keeps those that matter.
func (m *Moment) Add(e verify.Entry) {
	e = brief(e)
	if m.open == nil {
		m.open, m.ofStep = map[int64]*Activity{}, map[string]int64{}
	}
	if !e.Time.Before(m.When.From) && !e.Time.After(m.When.To) {
		if len(m.During) < maxDuring {
			m.During = append(m.During, e)
		} else {
			m.More++
		}
	}
	if what, ok := endOf[e.Type]; ok {
		m.end(what, e)
	}
	if what, ok := startOf[e.Type]; ok && !e.Time.After(m.When.To) {
		if len(m.open) == maxUnderWay {
			m.Lost++
			return
		}
		m.open[e.Seq] = &Activity{What: what, Start: e}
		m.ofStep[what+" "+e.Step] = e.Seq
	}
}

// end notes the end of an activity, or forgets one that had ended before the moment.
func (m *Moment) end(what string, e verify.Entry) {
	of, named := e.Int("of")
	if !named {
		of = m.ofStep[what+" "+e.Step]
	}
	act := m.open[of]
	switch {
	case act == nil || act.End != nil || act.What != what:
	case e.Time.Before(m.When.From):
		delete(m.open, of)
		if key := what + " " + e.Step; m.ofStep[key] == of {
			delete(m.ofStep, key)
		}
	default:
		act.End = &e
	}
}

// Open is what had begun before the moment was over and had not ended before it, in the order in which it began.
func (m *Moment) Open() []Activity {
	list := make([]Activity, 0, len(m.open))
	for _, seq := range slices.Sorted(maps.Keys(m.open)) {
		list = append(list, *m.open[seq])
	}
	return list
}
