package page

import (
	"fmt"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// verdictView is what joy ledger verify says, in its words.
type verdictView struct {
	Class   string
	State   string // complete, sealed
	Problem string // with the line
	Entries int64
	Head    string
	Proofs  []string
	Unknown []fact
	More    int // of Unknown
}

func (v *view) verdict() verdictView {
	r := v.rec.Verdict
	out := verdictView{Class: "ok", State: string(r.State), Entries: r.Entries, Head: line(r.Head)}
	switch r.State {
	case verify.Broken:
		out.Class = failed
	case verify.Incomplete:
		out.Class = warned
	}
	if r.Seal != nil {
		out.State += ", sealed"
	}
	if r.Line > 0 {
		out.State += fmt.Sprintf(" at line %d", r.Line)
	}
	out.Problem = line(r.Problem)
	for _, proof := range r.Proofs {
		out.Proofs = append(out.Proofs, line(proof))
	}
	for i, o := range r.Unknown {
		if i == maxUnknown {
			out.More = len(r.Unknown) - i
			break
		}
		f := fact{Name: fmt.Sprintf("entry %d", o.Seq), Value: o.Type}
		if o.Step != "" {
			f.Value += " of step " + line(o.Step)
		}
		out.Unknown = append(out.Unknown, f)
	}
	return out
}

// pointer leads to a place where something is not as it should be.
type pointer struct{ Href, Class, Step, Label, Text string }

// maxPointers is how many are listed before the steps.
const maxPointers = 40

// pointers lists what failed, was refused, withheld or lost, in the order of steps and time.
func (v *view) pointers() (list []pointer, more int) {
	add := func(p pointer) {
		if len(list) == maxPointers {
			more++
			return
		}
		list = append(list, p)
	}
	for _, m := range v.p.vms {
		if m.lost != nil {
			add(pointer{Class: failed, Label: "VM lost", Text: line(m.lost.String("reason"))})
		}
		if m.removed != nil && m.removed.Data["verified"] != true {
			add(pointer{Class: failed, Label: "VM may be alive", Text: line(m.removed.String("error"))})
		}
	}
	for _, s := range v.p.steps {
		name := v.stepName(s)
		if st := v.status(s); st.Class == failed || st.Class == unknown {
			text := ""
			if s.end != nil {
				text = line(s.end.String("error"))
			}
			add(pointer{fmt.Sprintf("#s%d", s.n), st.Class, name, "Step " + st.Word, text})
		}
		for _, it := range s.items {
			if level := it.level(); level != "" {
				add(pointer{fmt.Sprintf("#e%d", it.start.Seq), level, name, v.trouble(it), v.title(it)})
			}
		}
		more += s.moreBad
	}
	for _, a := range v.p.artifacts {
		if a.entry.Type != "artifact.stored" {
			add(pointer{
				fmt.Sprintf("#e%d", a.entry.Seq), warned, line(a.entry.Step), artifactLabels[a.entry.Type],
				line(a.entry.String("name")),
			})
		}
	}
	return list, more
}
