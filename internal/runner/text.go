package runner

import (
	"bytes"
	"unicode/utf8"
)

// utf8Check tells whether a stream is UTF-8 however it is cut.
type utf8Check struct {
	rest []byte
	bad  bool
}

func (u *utf8Check) write(b []byte) {
	if u.bad {
		return
	}
	if len(u.rest) > 0 {
		b = append(u.rest, b...)
		u.rest = nil
	}
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			b = b[1:]
			continue
		}
		if !utf8.FullRune(b) {
			u.rest = append([]byte(nil), b...)
			return
		}
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 {
			u.bad = true
			return
		}
		b = b[n:]
	}
}

func (u *utf8Check) valid() bool { return !u.bad && len(u.rest) == 0 }

// textCheck tells whether a stream is text: UTF-8 without NUL.
type textCheck struct {
	utf8 utf8Check
	nul  bool
}

func (t *textCheck) Write(b []byte) (int, error) {
	t.nul = t.nul || bytes.IndexByte(b, 0) >= 0
	t.utf8.write(b)
	return len(b), nil
}

func (t *textCheck) text() bool { return !t.nul && t.utf8.valid() }
