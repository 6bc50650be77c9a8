package verify

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Read gives each line of r to fn, in order. It ends with nil at the end of r, with a *BadLine at the first line
// that is no entry in canonical form, or with the error of r or fn. It checks each line by itself: Check follows
// the chain.
func Read(r io.Reader, fn func(Entry) error) error {
	lines := newLines(r)
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

// lines reads entries one after the other.
type lines struct {
	r     *bufio.Reader
	n     int
	buf   []byte
	canon []byte
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10)}
}

// next is the next entry; io.EOF when there is none, *BadLine when the line is not one.
func (l *lines) next() (Entry, error) {
	raw, err := l.line()
	if err != nil {
		return Entry{}, err
	}
	e, err := decode(raw)
	if err != nil {
		return Entry{}, l.bad("%s", err)
	}
	l.canon, err = appendEntry(l.canon[:0], e)
	if err != nil {
		return Entry{}, l.bad("cannot have been written by joy: %s", err)
	}
	if !bytes.Equal(l.canon, raw) {
		return Entry{}, l.bad("was edited: it is not in canonical form from byte %d on", firstDifference(l.canon, raw)+1)
	}
	e.Line, e.Raw = l.n, raw
	return e, nil
}

// line reads up to the next newline and returns what is before it.
func (l *lines) line() ([]byte, error) {
	l.n++
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
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

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
