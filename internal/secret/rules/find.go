package rules

import (
	"bytes"
	"slices"
)

const (
	// Before is how many bytes before a place decide, with what follows, on what is found there.
	Before = 512
	// lead is how far a secret may begin before the keyword by which it is looked for.
	lead = 64
)

// Span is one finding: the secret's place in the text, without what names it.
type Span struct {
	Rule       string
	Start, End int
	from       int // the place that led to it, or earlier
}

// Found is what is known of a text.
type Found struct {
	Spans   []Span // by their start; they may overlap
	Decided int    // nothing that follows changes what is said of the text up to here
	// More can be decided once the text has Need bytes, or, where Line is true, a line's end more.
	Need int
	Line bool
}

// Finder looks for secrets in one text after another. It is not for concurrent use.
type Finder struct {
	set  *Set
	skip []string
	low  []byte
}

// Finder makes one that leaves out some rules.
func (s *Set) Finder(skip ...string) *Finder { return &Finder{set: s, skip: skip} }

// Find looks at text from the place from on, which is at least 1: what stands before it was decided earlier and is only
// looked back at. It is all there, or Before bytes of it are; a text begins with a line's end, of which nothing is said.
// With end, the text is whole and all of it is decided.
func (f *Finder) Find(text []byte, from int, end bool) Found {
	out := Found{Decided: len(text)}
	if !end {
		out.Need, out.Line = len(text)+1, true
		out.Decided = max(from, len(text)-f.set.longest-lead)
		if i := bytes.LastIndexAny(text[out.Decided:], "\n\x00"); i >= 0 {
			out.Decided += i + 1 // no literal, and no secret before its keyword, goes over one
		}
	}
	f.set.walk(f.lower(text, from), func(at, n int, which []int) bool {
		at += from
		for _, i := range which {
			r := f.set.rules[i]
			if at >= out.Decided+lead || at >= out.Decided && r.anchored {
				continue
			}
			if r.assigned && !assigns(text[at+n:]) {
				continue
			}
			hi, whole := r.reach(text, at)
			if !whole && !end {
				out.wait(max(from, at-r.lead()), at+r.most, !r.over)
				continue
			}
			if span, ok := f.set.match(r, text, at, hi); ok && !slices.Contains(f.skip, r.id) {
				out.Spans = append(out.Spans, span)
			}
		}
		return at < out.Decided+lead+f.set.longest
	})
	out.settle(from)
	return out
}

// lower is the text from a place on in lower case, as far as ASCII goes: every byte stays where it is.
func (f *Finder) lower(text []byte, from int) []byte {
	f.low = append(f.low[:0], text[from:]...)
	for i, c := range f.low {
		if c-'A' < 26 {
			f.low[i] = c + 'a' - 'A'
		}
	}
	return f.low
}

// wait leaves a place undecided.
func (o *Found) wait(at, need int, line bool) {
	if at < o.Decided {
		o.Decided, o.Need, o.Line = at, need, line
	}
}

// settle leaves out what is not decided. Findings that overlap are decided together.
func (o *Found) settle(from int) {
	slices.SortStableFunc(o.Spans, func(a, b Span) int { return a.Start - b.Start })
	for cut := true; cut; {
		cut = false
		for _, s := range o.Spans {
			if s.Start < o.Decided && s.End > o.Decided || s.from < o.Decided && s.Start >= o.Decided {
				o.Decided, cut = max(from, s.from), true
			}
		}
	}
	o.Spans = slices.DeleteFunc(o.Spans, func(s Span) bool { return s.Start >= o.Decided })
}

// walk tells of each literal in a text where it begins and the rules that it may belong to, until the answer is false.
func (s *Set) walk(low []byte, found func(at, n int, which []int) bool) {
	s.trie.Walk(low, func(end, n, literal int64) bool {
		return found(int(end-n+1), int(n), s.literal[literal])
	})
}
