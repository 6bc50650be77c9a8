package page

import (
	"fmt"
	"strings"

	"github.com/joystream-ai/joy/internal/plan"
)

// Measures of the graph, in CSS pixels.
const (
	boxWidth, boxHeight = 176, 54
	gapX, gapY          = 56, 18
	edgeOfGraph         = 6
	boxRunes            = 20 // that fit a box in a sans-serif
	captionRunes        = 25
)

// graph is the plan's steps, those that may run side by side one below the other, in groups from left to right.
type graph struct {
	Width, Height int
	Nodes         []node
	Edges         []string // paths
	More          int      // steps that are not drawn
	Says          string   // the same in words
}

type node struct {
	X, Y                  int
	TextX, Line1, Line2   int
	Name, Caption         string
	Class, Href, Tooltip  string
	VM                    bool
	BoxW, BoxH, MarkX, MY int
}

// graph draws the plan; nil when there is none.
func (v *view) graph() *graph {
	p := v.rec.Plan
	if p == nil || len(p.Steps) == 0 || p.Digest != v.rec.Verdict.PlanDigest {
		return nil
	}
	g := &graph{Width: 2 * edgeOfGraph}
	at := map[string]node{}
	for x, wave := range plan.Waves(p) {
		for y, id := range wave {
			if len(g.Nodes) == maxSteps {
				g.More++
				continue
			}
			s, _ := p.Step(id)
			n := v.node(s, edgeOfGraph+x*(boxWidth+gapX), edgeOfGraph+y*(boxHeight+gapY))
			at[id] = n
			g.Nodes = append(g.Nodes, n)
			g.Width = max(g.Width, n.X+boxWidth+edgeOfGraph)
			g.Height = max(g.Height, n.Y+boxHeight+edgeOfGraph)
		}
	}
	for _, s := range p.Steps {
		to, drawn := at[s.ID]
		for _, need := range s.Needs {
			if from, ok := at[need]; ok && drawn && len(g.Edges) < 4*maxSteps {
				g.Edges = append(g.Edges, edge(from, to))
			}
		}
	}
	g.Says = fmt.Sprintf("%s in %s", counted(len(p.Steps), "step"), counted(len(plan.Waves(p)), "group"))
	return g
}

func edge(from, to node) string {
	x1, y1 := from.X+boxWidth, from.Y+boxHeight/2
	x2, y2 := to.X-7, to.Y+boxHeight/2
	bend := max((x2-x1)/2, gapX/2)
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)
}

func (v *view) node(s plan.Step, x, y int) node {
	what := s.Skill
	if s.Kind == plan.Action {
		what = s.Action
	}
	n := node{
		X: x, Y: y, TextX: x + 14, Line1: y + 23, Line2: y + 41, BoxW: boxWidth, BoxH: boxHeight, VM: s.NeedsVM(),
		Name: short(line(s.ID), boxRunes), Caption: short(line(s.Kind+" "+what), captionRunes), Class: "none",
		Tooltip: line(s.ID) + ": " + line(s.Kind+" "+what), MarkX: x + boxWidth - 14, MY: y + 19,
	}
	if len(s.Needs) > 0 {
		n.Tooltip += ", after " + line(strings.Join(s.Needs, ", "))
	}
	if st := v.p.byID[s.ID]; st != nil {
		state := v.status(st)
		n.Class, n.Href = state.Class, fmt.Sprintf("#s%d", st.n)
		n.Tooltip += ", " + state.Word
	}
	if n.VM {
		n.Tooltip += ", in the VM"
	}
	return n
}

// short cuts s to so many runes.
func short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
