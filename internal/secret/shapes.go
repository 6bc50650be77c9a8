package secret

import (
	"bytes"
	"io"
	"slices"

	"github.com/joystream-ai/joy/internal/secret/rules"
)

// shapes is the second stage of a Writer: what is left after the known values is searched by the rules. It keeps at
// most what one rule may need, which the rules bound, and one piece.
type shapes struct {
	w      io.Writer
	finder *rules.Finder
	hit    func(rules.Span, int64) // the offset is in what this stage was given
	text   []byte                  // a line's end or what was decided earlier, and what is not decided yet
	from   int                     // where the latter begins
	offset int64                   // of that in the input
	need   int                     // the length of text from which more can be decided
	line   bool                    // or a line's end
	err    error
}

// piece bounds what is looked at at once, in bytes.
const piece = 64 << 10

func newShapes(finder *rules.Finder, w io.Writer, hit func(rules.Span, int64)) *shapes {
	return &shapes{w: w, finder: finder, hit: hit, text: []byte("\n"), from: 1}
}

// Write takes all of p, or fails with the first error of the writer below, which stays.
func (s *shapes) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && s.err == nil; {
		n := min(len(rest), piece)
		s.text = append(s.text, rest[:n]...)
		if len(s.text) >= s.need || s.line && bytes.ContainsAny(rest[:n], "\n\x00") {
			s.decide(false)
		}
		rest = rest[n:]
	}
	return len(p), s.err
}

// Close decides about all that is left. Afterwards the stage is ready for another stream, whose offsets go on.
func (s *shapes) Close() error {
	if s.err == nil {
		s.decide(true)
		s.text, s.from, s.need = append(s.text[:0], '\n'), 1, 0
	}
	return s.err
}

func (s *shapes) decide(end bool) {
	found := s.finder.Find(s.text, s.from, end)
	out := s.text[s.from:found.Decided]
	if len(found.Spans) > 0 {
		out = s.replaced(found)
	}
	if len(out) > 0 {
		_, s.err = s.w.Write(out)
	}
	s.offset += int64(found.Decided - s.from)
	drop := max(found.Decided-rules.Before-1, 0)
	s.text = s.text[:copy(s.text, s.text[drop:])]
	s.from = found.Decided - drop
	s.need, s.line = found.Need-drop, found.Line
}

// replaced is what was decided with a marker in the place of each finding. Findings that overlap are covered as a whole:
// their markers stand one after the other, each rule's once.
func (s *shapes) replaced(f rules.Found) []byte {
	var out []byte
	plain := s.from
	var names []string // of the findings that overlap here
	for _, span := range f.Spans {
		if span.Start >= plain {
			out, names = append(out, s.text[plain:span.Start]...), nil
		}
		if plain < span.End {
			plain = span.End
		}
		if slices.Contains(names, span.Rule) {
			continue
		}
		names = append(names, span.Rule)
		s.hit(span, s.offset+int64(span.Start-s.from))
		out = append(out, "[REDACTED:"+span.Rule+"]"...)
	}
	return append(out, s.text[plain:f.Decided]...)
}
