package container

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"io"
)

// pdf visits the streams of a PDF that are compressed with Flate (ISO 32000-1, section 7.4.4), which is what programs
// use, and the text that they show. Every stream is tried: what its dictionary says of it is a stranger's word.
func (l *look) pdf(name string, r *io.SectionReader) error {
	found := &streams{in: bufio.NewReaderSize(r, 64<<10)}
	for {
		at, err := found.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := l.pdfStream(name, io.NewSectionReader(r, at, r.Size()-at)); err != nil {
			return err
		}
	}
	if found.encrypted {
		l.note("it is encrypted", name)
	}
	return nil
}

func (l *look) pdfStream(name string, r *io.SectionReader) error {
	for _, shown := range []bool{false, true} {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return err
		}
		z, err := zlib.NewReader(r)
		if err != nil {
			return nil // not compressed, which the search of the file itself covers, or in another way
		}
		var in io.Reader = z
		if shown {
			in = &shownText{in: bufio.NewReader(z)}
		}
		err = l.pdfMember(name, in)
		if err := l.spoiled(err, name); err != nil {
			return err
		}
	}
	return nil
}

// pdfMember visits one stream. What a stream holds is not unpacked again: an attached file is one more stream.
func (l *look) pdfMember(name string, in io.Reader) error {
	return l.member(name, in, l.limits.Depth-1)
}

// streams finds where the streams of a PDF begin.
type streams struct {
	in        *bufio.Reader
	at        int64 // of what in reads next
	encrypted bool
}

// next is the offset behind the next keyword "stream" and its line's end.
func (s *streams) next() (int64, error) {
	const longest = len("endstream\r\n")
	for {
		b, err := s.in.Peek(4 << 10)
		if len(b) == 0 {
			return 0, err
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		s.encrypted = s.encrypted || bytes.Contains(b, []byte("/Encrypt "))
		i := bytes.Index(b, []byte("stream"))
		step, found := len(b), false
		switch {
		case i < 0 && err == nil:
			step -= longest
		case i >= 0 && i+longest > len(b) && i > longest && err == nil:
			step = i - 3
		case i >= 0:
			step, found = streamStart(b, i)
		}
		if _, err := s.in.Discard(max(step, 1)); err != nil {
			return 0, err
		}
		s.at += int64(max(step, 1))
		if found {
			return s.at, nil
		}
	}
}

// streamStart is behind the keyword at i and its line's end, and whether a stream begins there.
func streamStart(b []byte, i int) (end int, begins bool) {
	end = i + len("stream")
	rest := b[end:]
	switch {
	case bytes.HasSuffix(b[:i], []byte("end")):
		return end, false
	case bytes.HasPrefix(rest, []byte("\r\n")):
		return end + 2, true
	case len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r'):
		return end + 1, true
	}
	return end, false
}

// shownText reads what a page shows, as far as its fonts write text in bytes of ASCII: the strings of one operator joined, a
// line's end between operators that move on (ISO 32000-1, section 9.4).
type shownText struct {
	in  *bufio.Reader
	out []byte
	op  []byte
	err error
}

func (t *shownText) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

func (t *shownText) fill() {
	t.out = t.out[:0:0]
	for len(t.out) < portion && t.err == nil {
		c, err := t.in.ReadByte()
		switch {
		case err != nil:
			t.err = err
		case c == '(':
			t.literal()
		case c == '<':
			t.hexadecimal()
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '*' || c == '\'' || c == '"':
			if len(t.op) < 3 {
				t.op = append(t.op, c)
			}
		default:
			switch string(t.op) {
			case "Td", "TD", "T*", "Tm", "ET", "'", "\"":
				t.out = append(t.out, '\n')
			}
			t.op = t.op[:0]
		}
	}
}

// literal reads a string in parentheses (section 7.3.4.2), whose opening one was read.
func (t *shownText) literal() {
	t.op = t.op[:0]
	for depth := 1; len(t.out) < 2*portion; {
		c, err := t.in.ReadByte()
		if err != nil {
			t.err = err
			return
		}
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return
			}
		case '\\':
			if c, err = t.in.ReadByte(); err != nil {
				t.err = err
				return
			}
			if c == '\n' {
				continue
			}
		}
		t.out = append(t.out, c)
	}
}

// hexadecimal reads a string of digits (section 7.3.4.3), or nothing where << opens a dictionary.
func (t *shownText) hexadecimal() {
	t.op = t.op[:0]
	value, half := byte(0), false
	for len(t.out) < 2*portion {
		c, err := t.in.ReadByte()
		if err != nil {
			t.err = err
			return
		}
		d := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		switch {
		case d < 0 || c < '0':
			if c != ' ' && c != '\n' {
				return
			}
		case half:
			t.out, half = append(t.out, value<<4|byte(d)), false
		default:
			value, half = byte(d), true
		}
	}
}
