package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// Page collects a ledger's entries. The zero value is ready.
type Page struct {
	first, last verify.Entry
	finished    *verify.Entry
	counts      map[string]int // entries by type
	waits       []bar
	waiting     *verify.Entry
	vms         []*machine
	vmOf        map[int64]*machine // by the seq of any of its entries

	steps     []*step // in the order in which they are first named
	byID      map[string]*step
	moreSteps map[string]bool
	open      map[int64]*item
	shown     int // items that went well
	trouble   int
	artifacts []artifact
	moreArts  int
	hosts     hosts
	text      int // bytes of entries' texts kept so far
}

// step is one step of the run; "" is the run itself.
type step struct {
	id      string
	n       int // its number in the page
	start   *verify.Entry
	end     *verify.Entry
	skipped string // why it never began
	items   []*item
	good    int // of items
	bad     int
	more    int // not kept
	moreBad int // of more
	nth     int // commands so far
	lanes   map[string][]bar
	denied  []int64 // when, in ms since 1970
}

// item is something that a step did, or that was done to it.
type item struct {
	step  *step
	start verify.Entry
	end   *verify.Entry
	nth   int // of a command: which of its step
}

// machine is the life of one VM.
type machine struct {
	requested              verify.Entry
	created, lost, removed *verify.Entry
}

// Add takes the ledger's entries one after the other.
func (p *Page) Add(e verify.Entry) {
	e.Raw = nil
	if p.counts == nil {
		p.first = e
		p.counts, p.byID, p.open = map[string]int{}, map[string]*step{}, map[int64]*item{}
		p.vmOf, p.moreSteps = map[int64]*machine{}, map[string]bool{}
	}
	p.last = e
	p.counts[e.Type]++
	switch what, _, _ := strings.Cut(e.Type, "."); what {
	case "run":
		p.run(e)
	case "sandbox":
		p.sandbox(e)
	case "step":
		p.ofStep(e)
	case "artifact":
		p.artifact(e)
	case "command", "tool", "approval", "egress", "model", "file", "scrub", "ledger":
		p.hosts.add(e)
		p.happened(e)
	}
}

func (p *Page) run(e verify.Entry) {
	switch e.Type {
	case "run.finished":
		p.finished = &e
	case "run.waiting":
		p.waiting = &e
	case "run.resumed":
		if p.waiting != nil {
			p.waits = append(p.waits, span(p.waiting.Time, e.Time, ""))
			p.waiting = nil
		}
	}
}

func (p *Page) sandbox(e verify.Entry) {
	of, _ := e.Int("of")
	m := p.vmOf[of]
	if e.Type == "sandbox.requested" {
		if len(p.vms) == maxSteps {
			return
		}
		m = &machine{requested: e}
		p.vms = append(p.vms, m)
	}
	if m == nil {
		return
	}
	if len(p.vmOf) < 4*maxSteps {
		p.vmOf[e.Seq] = m
	}
	switch e.Type {
	case "sandbox.created":
		m.created = &e
	case "sandbox.lost":
		m.lost = &e
	case "sandbox.destroyed":
		m.removed = &e
	}
}

// stepOf is the step of that id; nil when the page has enough of them.
func (p *Page) stepOf(id string) *step {
	s := p.byID[id]
	if s == nil && len(p.steps) < maxSteps {
		s = &step{id: id, n: len(p.steps) + 1, lanes: map[string][]bar{}}
		p.steps = append(p.steps, s)
		p.byID[id] = s
	}
	if s == nil && len(p.moreSteps) < 1<<20 {
		p.moreSteps[id] = true
	}
	return s
}

func (p *Page) ofStep(e verify.Entry) {
	s := p.stepOf(e.Step)
	if s == nil {
		return
	}
	p.squeeze(e.Data)
	switch e.Type {
	case "step.started":
		s.start = &e
	case "step.finished":
		s.end = &e
	case "step.skipped":
		s.skipped = e.String("reason")
		if s.skipped == "" {
			s.skipped = "no reason is on record"
		}
	}
}

// squeeze cuts the strings that an entry is kept with, so that what is kept is bounded.
func (p *Page) squeeze(data map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		data[key] = p.squeezed(data[key])
	}
}

func (p *Page) squeezed(value any) any {
	switch v := value.(type) {
	case string:
		limit := maxCommand
		if p.text > maxAllText {
			limit = 512
		}
		if len(v) > limit {
			v = strings.Clone(wholeRunes(v[:limit]))
		}
		p.text += len(v)
		return v
	case map[string]any:
		p.squeeze(v)
	case []any:
		if len(v) > maxListed {
			v = slices.Clone(v[:maxListed])
		}
		for i := range v {
			v[i] = p.squeezed(v[i])
		}
		return v
	}
	return value
}
