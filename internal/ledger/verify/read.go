package verify

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Read gives each line of r to fn, in order. It ends with nil at the end of r, with a *BadLine at the first line
// that is no entry in canonical form, or with the error of r or fn. It checks each line by itself: Check follows
// the chain.
func Read(r io.Reader, fn func(Entry) error) error {
	lines := newLines(r, true)
	for {
		e, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
}

// Parser reads lines that somebody else has cut, one ledger's one after the other. The zero value is ready.
type Parser struct{ last Entry }

// Parse reads a line without its newline, in the only form that an entry has, and checks nothing but that. The error is a
// *BadLine, whose Line is 0. The entry's Raw is line.
func (p *Parser) Parse(line []byte) (Entry, error) {
	e, problem := parse(line, true, &p.last)
	if problem != "" {
		return Entry{}, &BadLine{Problem: problem}
	}
	p.last = e
	p.last.Raw, p.last.Data = nil, nil
	return e, nil
}

// lines reads entries one after the other.
type lines struct {
	r    *bufio.Reader
	n    int
	buf  []byte
	keep bool  // entries come with their data
	last Entry // for its strings
}

func newLines(r io.Reader, keep bool) *lines {
	return &lines{r: bufio.NewReaderSize(r, 256<<10), keep: keep}
}

// next is the next entry; io.EOF when there is none, *BadLine when the line is not one.
func (l *lines) next() (Entry, error) {
	raw, err := l.line()
	if err != nil {
		return Entry{}, err
	}
	e, problem := parse(raw, l.keep, &l.last)
	if problem != "" {
		return Entry{}, l.bad("%s", problem)
	}
	e.Line = l.n
	l.last = e
	return e, nil
}

// line reads up to the next newline and returns what is before it.
func (l *lines) line() ([]byte, error) {
	l.n++
	part, err := l.r.ReadSlice('\n')
	if err == nil { // valid until the next read, as Raw is
		return part[:len(part)-1], nil
	}
	l.buf = l.buf[:0]
	for ; ; part, err = l.r.ReadSlice('\n') {
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > MaxLine:
			return nil, l.bad("is longer than %d bytes", MaxLine)
		case err == nil:
			return l.buf[:len(l.buf)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			return nil, l.torn()
		default:
			return nil, err
		}
	}
}

func (l *lines) bad(format string, args ...any) *BadLine {
	return &BadLine{Line: l.n, Problem: fmt.Sprintf(format, args...)}
}

func (l *lines) torn() *BadLine {
	b := l.bad("is torn: %d bytes without a newline at the end", len(l.buf))
	b.Torn, b.Bytes = true, int64(len(l.buf))
	return b
}
