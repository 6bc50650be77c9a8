package rules

import (
	"errors"
	"io"
	"strings"
)

// piece is how much Scan reads at once, in bytes.
const piece = 64 << 10

// Scan looks through what r gives until its end and tells of each finding, by its place from the beginning, in their order. It
// keeps in memory what one rule may need and no more. The error is r's.
func (f *Finder) Scan(r io.Reader, hit func(rule string, at int64)) error {
	text, from, base := []byte("\n"), 1, int64(-1) // base is the place of text's first byte
	buf := make([]byte, piece)
	for {
		n, err := io.ReadFull(r, buf)
		text = append(text, buf[:n]...)
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return err
		}
		found := f.Find(text, from, end)
		var before Span // two literals may lead to one finding
		for _, s := range found.Spans {
			if s.Rule != before.Rule || s.Start != before.Start {
				hit(s.Rule, base+int64(s.Start))
			}
			before = s
		}
		if end {
			return nil
		}
		drop := max(found.Decided-Before-1, 0)
		text = text[:copy(text, text[drop:])]
		from, base = found.Decided-drop, base+int64(drop)
	}
}

// Redact is a text, whole, with [REDACTED:rule] in the place of each finding.
func (f *Finder) Redact(text string) string {
	var out strings.Builder
	plain := 0
	for _, s := range f.Find([]byte("\n"+text), 1, true).Spans {
		if start := s.Start - 1; start >= plain {
			out.WriteString(text[plain:start] + "[REDACTED:" + s.Rule + "]")
		}
		plain = max(plain, s.End-1)
	}
	return out.String() + text[plain:]
}
