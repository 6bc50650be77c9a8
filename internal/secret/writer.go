package secret

import (
	"io"

	"github.com/joystream-ai/joy/internal/secret/rules"
)

// Writer redacts a stream: what is written to it goes on to w with each value replaced by [REDACTED:name]. hit, when
// not nil, hears of every place, in order, except those that lie within another. However the stream is cut into writes, the
// outcome is the same. A byte is held back only while it may be the beginning of a value; Close lets it go and does
// not close w. It is not for concurrent use.
//
// Of values that begin at one place the longest counts. Values that overlap are covered as a whole: their markers
// stand one after the other, each name once.
//
// With rules, what is left after the values is searched by them. A byte is then held back while it may belong to a match:
// as a rule to the end of its line.
func (s *Set) Writer(w io.Writer, hit func(Hit)) *Writer {
	out := &Writer{set: s, w: w, hit: hit}
	if s.rules != nil {
		out.shapes = newShapes(s.rules().Finder(s.skip...), w, out.matched)
		out.w = out.shapes
	}
	return out
}

// Writer is a stream under redaction; see Set.Writer.
type Writer struct {
	set *Set
	w   io.Writer
	hit func(Hit)
	err error

	held    []byte          // input not decided yet
	offset  int64           // of held in the input
	covered int             // bytes at the front of held that belong to a value whose marker is written
	names   map[string]bool // markers written for the values that overlap here
	out     []byte          // output of one write
	sent    int64           // bytes of output before out

	shapes *shapes // w, when there are rules
	jumps  []jump  // what offsets in the output are in the input
}

// jump is a place of the output from which on it runs along with the input again, until the next.
type jump struct{ out, in int64 }

// Write takes all of p, or fails with the first error of the writer below, which stays.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if len(w.held) == 0 {
		rest := w.scan(p, false) // the common case copies nothing
		w.held = append(w.held, rest...)
	} else {
		w.held = append(w.held, p...)
		rest := w.scan(w.held, false)
		w.held = w.held[:copy(w.held, rest)]
	}
	return len(p), w.send()
}

// Close redacts and writes what was held back. Afterwards the Writer may be used for another stream whose offsets go
// on from this one.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.scan(w.held, true)
	w.held, w.covered = nil, 0
	if err := w.send(); err != nil || w.shapes == nil {
		return err
	}
	w.err = w.shapes.Close()
	return w.err
}

func (w *Writer) send() error {
	if len(w.out) > 0 {
		w.sent += int64(len(w.out))
		_, w.err = w.w.Write(w.out)
		w.out = w.out[:0]
	}
	return w.err
}

// plain writes a part of the input as it is.
func (w *Writer) plain(b []byte, offset int64) {
	if w.shapes != nil {
		at := w.sent + int64(len(w.out))
		if n := len(w.jumps); n == 0 || offset-w.jumps[n-1].in != at-w.jumps[n-1].out {
			w.jumps = append(w.jumps, jump{at, offset})
		}
	}
	w.out = append(w.out, b...)
}

// matched tells of a rule's match at an offset of the output. Matches come in the order of their offsets.
func (w *Writer) matched(m rules.Span, offset int64) {
	for len(w.jumps) > 1 && w.jumps[1].out <= offset {
		w.jumps = w.jumps[1:]
	}
	if len(w.jumps) > 0 {
		offset += w.jumps[0].in - w.jumps[0].out
	}
	if w.hit != nil {
		w.hit(Hit{Name: m.Rule, Form: Rule, Offset: offset, Len: m.End - m.Start})
	}
}

// scan decides about b from its front and returns what cannot be decided before more bytes come; at the end that is
// nothing.
func (w *Writer) scan(b []byte, end bool) (rest []byte) {
	t := w.set.table.Load()
	covered, plain := w.covered, w.covered // b[:covered] is hidden; b[plain:i] is to be written as it is
	i := 0
	for i < len(b) {
		if i >= covered {
			i = t.skip(b, i)
			if i == len(b) {
				break
			}
		}
		n, more := t.at(b[i:])
		if more && !end {
			break
		}
		if n >= 0 {
			if i >= covered {
				w.plain(b[plain:i], w.offset+int64(plain))
				w.names = nil
			}
			hit := t.needles[n]
			if i+len(hit.bytes) > covered {
				w.mark(hit, w.offset+int64(i))
			}
			covered = max(covered, i+len(hit.bytes))
			plain = covered
		}
		i++
	}
	if i > plain {
		w.plain(b[plain:i], w.offset+int64(plain))
	}
	w.covered = max(covered-i, 0)
	w.offset += int64(i)
	return b[i:]
}

// mark tells of a value and writes its marker, unless one of that name stands right before.
func (w *Writer) mark(n needle, offset int64) {
	if w.hit != nil {
		w.hit(Hit{Name: n.name, Form: n.form, Offset: offset, Len: len(n.bytes)})
	}
	if w.names[n.name] {
		return
	}
	if w.names == nil {
		w.names = map[string]bool{}
	}
	w.names[n.name] = true
	w.out = append(w.out, "[REDACTED:"+n.name+"]"...)
}
