package page

import (
	"cmp"
	"slices"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// begins are the types that an end will follow.
var begins = map[string]bool{
	"command.started": true, "tool.requested": true, "approval.requested": true, "egress.allowed": true, "model.requested": true,
}

var ends = map[string]bool{
	"command.finished": true, "tool.returned": true, "approval.granted": true, "approval.denied": true, "egress.closed": true,
	"model.replied": true,
}

// lanes of a step in the timeline, by what runs in them.
var laneOf = map[string]string{
	"command.started": "command", "tool.requested": "call", "model.requested": "call", "approval.requested": "wait",
	"egress.allowed": "net",
}

// happened takes an entry that begins an item, ends one, or is one by itself.
func (p *Page) happened(e verify.Entry) {
	if ends[e.Type] {
		of, _ := e.Int("of")
		if it := p.open[of]; it != nil {
			delete(p.open, of)
			p.squeeze(e.Data)
			it.end = &e
			p.keep(it)
		}
		return
	}
	s := p.stepOf(e.Step)
	if s == nil {
		return
	}
	p.squeeze(e.Data)
	it := &item{step: s, start: e}
	if e.Type == "command.started" {
		s.nth++
		it.nth = s.nth
	}
	if begins[e.Type] && len(p.open) < maxOpen {
		p.open[e.Seq] = it
		return
	}
	p.keep(it)
}

// keep shows an item that is over, as far as there is room, and always notes when it was.
func (p *Page) keep(it *item) {
	s, bad := it.step, it.level() != ""
	from, to := it.start.Time, it.start.Time
	if it.end != nil {
		to = it.end.Time
	}
	if lane := laneOf[it.start.Type]; lane != "" {
		s.lanes[lane] = p.scale().thinned(append(s.lanes[lane], span(from, to, it.level())))
	} else if bad {
		s.denied = p.scale().thinnedTicks(append(s.denied, from.UnixMilli()))
	}
	switch {
	case !bad && s.good < maxItemsOfStep && p.shown < maxItems:
		s.good++
		p.shown++
	case bad && s.bad < maxTroubleStep && p.trouble < maxTrouble:
		s.bad++
		p.trouble++
	default:
		s.more++
		if bad {
			s.moreBad++
		}
		return
	}
	s.items = append(s.items, it)
}

// close keeps what never ended, and puts each step's items into the order in which they began.
func (p *Page) close() {
	left := make([]*item, 0, len(p.open))
	for _, it := range p.open {
		left = append(left, it)
	}
	slices.SortFunc(left, bySeq)
	for _, it := range left {
		p.keep(it)
	}
	p.open = map[int64]*item{}
	for _, s := range p.steps {
		slices.SortFunc(s.items, bySeq)
	}
}

func bySeq(a, b *item) int { return cmp.Compare(a.start.Seq, b.start.Seq) }

// Levels of what is not as it should be. The names are classes of the page.
const (
	failed  = "fail"
	warned  = "warn"
	unknown = "unknown"
)

// level is "" for what went well.
func (it *item) level() string {
	switch it.start.Type {
	case "tool.denied", "egress.denied":
		return failed
	case "tool.drifted", "scrub.found", "ledger.recovered":
		return warned
	}
	if !begins[it.start.Type] {
		return ""
	}
	if it.end == nil {
		return unknown
	}
	switch it.end.Type {
	case "command.finished":
		if code, exited := it.end.Int("exit"); !exited || code != 0 {
			return failed
		}
	case "tool.returned", "model.replied":
		if it.end.Data["failed"] == true || it.end.String("error") != "" {
			return failed
		}
	case "approval.denied":
		return failed
	case "egress.closed":
		if it.end.String("reason") != "" {
			return warned
		}
	}
	return ""
}
