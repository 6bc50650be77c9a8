package verify

import (
	"cmp"
	"maps"
	"slices"
)

// maxOpen is how many starts without an end are followed at a time: far more than a run has under way, and as many as
// whoever writes a ledger by hand can make it hold.
const maxOpen = 1 << 16

// pairs finds the start that an end ends, in a time that does not grow with how many are open.
type pairs struct {
	more   int64 // starts that came when maxOpen were open: nobody knows whether they ended
	open   map[int64]Open
	named  map[name][]int64 // by the start's own seq and by what it itself ended
	ofStep map[step][]int64 // both: the oldest first, which is open; those behind it may have ended
}

type name struct {
	typ string
	seq int64
}

type step struct{ typ, step string }

func newPairs() *pairs {
	return &pairs{open: map[int64]Open{}, named: map[name][]int64{}, ofStep: map[step][]int64{}}
}

// take notes a start, or takes away the start that e ends: the one its "of" names, by itself or by what that one ended
// (sandbox.destroyed names sandbox.requested), else the oldest of its step.
func (p *pairs) take(e Entry) {
	for _, start := range ends[e.Type] {
		queue := p.ofStep[step{start, e.Step}]
		if e.of > 0 {
			queue = p.named[name{start, e.of}]
		}
		if len(queue) > 0 {
			p.end(p.open[queue[0]])
			break
		}
	}
	if starts[e.Type] {
		p.start(Open{Seq: e.Seq, Type: e.Type, Step: e.Step, of: e.of})
	}
}

func (p *pairs) start(o Open) {
	if len(p.open) == maxOpen {
		p.more++
		return
	}
	p.open[o.Seq] = o
	for _, n := range o.names() {
		p.named[n] = append(p.named[n], o.Seq)
	}
	s := step{o.Type, o.Step}
	queue := p.ofStep[s]
	if len(queue) > 64+2*len(p.open) { // most of it ended, behind a first that did not
		queue = slices.DeleteFunc(queue, func(seq int64) bool { _, open := p.open[seq]; return !open })
	}
	p.ofStep[s] = append(queue, o.Seq)
}

func (p *pairs) end(o Open) {
	delete(p.open, o.Seq)
	for _, n := range o.names() {
		if left := p.living(p.named[n]); len(left) > 0 {
			p.named[n] = left
		} else {
			delete(p.named, n)
		}
	}
	s := step{o.Type, o.Step}
	if left := p.living(p.ofStep[s]); len(left) > 0 {
		p.ofStep[s] = left
	} else {
		delete(p.ofStep, s)
	}
}

// living is queue from its first start on that is still open.
func (p *pairs) living(queue []int64) []int64 {
	for len(queue) > 0 {
		if _, ok := p.open[queue[0]]; ok {
			break
		}
		queue = queue[1:]
	}
	return queue
}

// names are the seqs that an end may name o by.
func (o Open) names() []name {
	if o.of > 0 && o.of != o.Seq {
		return []name{{o.Type, o.Seq}, {o.Type, o.of}}
	}
	return []name{{o.Type, o.Seq}}
}

// left are the starts without an end, in order.
func (p *pairs) left() []Open {
	return slices.SortedFunc(maps.Values(p.open), func(a, b Open) int { return cmp.Compare(a.Seq, b.Seq) })
}
