package secret

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// Growing redacts bodies of which each begins as the one before, such as the requests of a conversation, and looks only at what is
// new. What it gives is what Set.Redact gives: a stream's outcome does not depend on how it is cut, so the state of a Writer after
// the part that two bodies have in common stands for that part. A body that begins otherwise, or a value told meanwhile, makes it begin
// anew. It is not for concurrent use.
type Growing struct {
	set   *Set
	table *table  // by which seen was looked at
	seen  []byte  // of the body before; not changed
	w     *Writer // after seen
	out   bytes.Buffer
	hits  []Hit
}

// tail is how many bytes at the end of a body are expected to be others in the next: what closes it.
const tail = 64

// Growing makes one that has seen nothing.
func (s *Set) Growing() *Growing { return &Growing{set: s} }

// Redact is as Set.Redact. The body must not be changed afterwards.
func (g *Growing) Redact(b []byte) ([]byte, []Hit) {
	if t := g.set.table.Load(); g.w == nil || t != g.table || !bytes.HasPrefix(b, g.seen) {
		*g = Growing{set: g.set, table: t}
		g.w = g.set.Writer(&g.out, func(h Hit) { g.hits = append(g.hits, h) })
	}
	mark := max(len(g.seen), len(b)-tail)
	_, _ = g.w.Write(b[len(g.seen):mark]) // a buffer takes everything
	g.seen = b[:mark]

	var rest bytes.Buffer
	hits := slices.Clip(g.hits)
	w := g.w.fork(&rest, func(h Hit) { hits = append(hits, h) })
	_, _ = w.Write(b[mark:])
	_ = w.Close()
	if len(hits) == 0 {
		return b, nil
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Offset, b.Offset) })
	return slices.Concat(g.out.Bytes(), rest.Bytes()), hits
}

// fork is the Writer as it is now, for another end of its stream.
func (w *Writer) fork(to *bytes.Buffer, hit func(Hit)) *Writer {
	f := *w
	f.w, f.hit, f.out = to, hit, nil
	f.held, f.names, f.jumps = bytes.Clone(w.held), maps.Clone(w.names), slices.Clone(w.jumps)
	if w.shapes != nil {
		s := *w.shapes
		s.w, s.hit, s.text = to, f.matched, bytes.Clone(s.text)
		s.finder = f.set.rules().Finder(f.set.skip...)
		f.w, f.shapes = &s, &s
	}
	return &f
}
