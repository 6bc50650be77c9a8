package verify

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// parser reads one line in the only spelling that an entry has. It accepts nothing else, so that what it understood and
// the bytes that were hashed cannot come apart: there is no second form of a value that it would take for the same.
type parser struct {
	b    []byte
	i    int
	keep bool // data is built; else it is only checked. That of run.* is always built

	of      int64  // data's "of" when it is an integer
	problem string // the first one
}

// parse reads raw, a line without its newline. like is the entry before, whose strings are used again. The error is the
// problem, in words that follow "line N".
func parse(raw []byte, keep bool, like *Entry) (e Entry, problem string) {
	p := parser{b: raw, keep: keep}
	p.lit(`{"seq":`)
	e.Seq = p.integer()
	p.lit(`,"time":`)
	e.Time = p.time()
	p.lit(`,"run":`)
	e.Run = again(p.text(), like.Run)
	p.lit(`,"type":`)
	e.Type = again(p.text(), like.Type)
	p.keep = p.keep || strings.HasPrefix(e.Type, "run.")
	if p.next(`,"step":`) {
		if e.Step = again(p.text(), like.Step); e.Step == "" {
			p.fail("")
		}
	}
	p.lit(`,"data":`)
	if p.i < len(p.b) && p.b[p.i] != '{' {
		p.fail("data is no object")
	}
	e.Data, _ = p.value(0).(map[string]any)
	p.lit(`,"prev":`)
	e.Prev = again(p.text(), like.Hash)
	e.body = p.i
	p.lit(`,"hash":`)
	e.Hash = string(p.text())
	p.lit(`}`)
	if p.problem == "" && p.i < len(raw) {
		p.fail("")
	}
	e.of, e.Raw = p.of, raw
	return e, p.problem
}

// again is b as a string: like, when they are equal.
func again(b []byte, like string) string {
	if string(b) == like {
		return like
	}
	return string(b)
}

// fail notes the first problem, at the byte where the parser is.
func (p *parser) fail(why string) {
	switch {
	case p.problem != "":
		return
	case len(p.b) < 2 || p.b[0] != '{' || p.b[1] != '"':
		p.problem = "is no JSON object of an entry"
	case p.i >= len(p.b):
		p.problem = "is no JSON object of an entry: it ends too early"
	default:
		p.problem = fmt.Sprintf("was edited: it is not in canonical form from byte %d on", p.i+1)
		if why != "" {
			p.problem += ": " + why
		}
	}
	p.i = len(p.b) // nothing that follows is looked at
}

// next takes s when it comes next.
func (p *parser) next(s string) bool {
	if len(p.b)-p.i < len(s) || string(p.b[p.i:p.i+len(s)]) != s {
		return false
	}
	p.i += len(s)
	return true
}

// lit takes s, or fails at its first byte that differs.
func (p *parser) lit(s string) {
	if p.next(s) {
		return
	}
	for p.i < len(p.b) && s != "" && p.b[p.i] == s[0] {
		p.i, s = p.i+1, s[1:]
	}
	p.fail("")
}

func (p *parser) integer() int64 {
	start := p.i
	if p.i < len(p.b) && p.b[p.i] == '-' {
		p.i++
	}
	digits := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	n, err := strconv.ParseInt(string(p.b[start:p.i]), 10, 64)
	zero := p.i > digits && p.b[digits] == '0' && (p.i > digits+1 || start < digits)
	if err != nil || zero || n > maxInt || n < -maxInt {
		p.i = min(start, len(p.b))
		p.fail("no integer below 2^53")
	}
	return n
}

func (p *parser) time() time.Time {
	start := p.i
	b := p.text()
	at, err := time.Parse(timeLayout, string(b))
	var form [len(timeLayout)]byte // Parse also takes a comma for the point, and hours of one digit
	if p.problem == "" && (err != nil || !bytes.Equal(at.AppendFormat(form[:0], timeLayout), b)) {
		p.i = start
		p.fail("no time in RFC 3339, UTC, with milliseconds")
	}
	return at
}

// value reads any value; it is nil where data is not kept.
func (p *parser) value(depth int) any {
	if depth > MaxDepth {
		p.fail(fmt.Sprintf("nested deeper than %d", MaxDepth))
	}
	if p.i >= len(p.b) {
		p.fail("")
		return nil
	}
	switch c := p.b[p.i]; {
	case c == '"':
		s := p.text()
		if !p.keep {
			return nil
		}
		return string(s)
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case p.next("true"):
		return true
	case p.next("false"):
		return false
	case c == '-' || c >= '0' && c <= '9':
		n := p.integer()
		if !p.keep {
			return nil
		}
		return n
	}
	p.fail("no value that an entry may hold")
	return nil
}

func (p *parser) list(depth int) any {
	p.i++
	list := []any{}
	for n := 0; !p.next("]"); n++ {
		if n > 0 {
			p.lit(",")
		}
		v := p.value(depth + 1)
		if p.problem != "" {
			return nil
		}
		if p.keep {
			list = append(list, v)
		}
	}
	return list
}

// object reads an object whose keys are sorted, without one that comes twice.
func (p *parser) object(depth int) any {
	p.i++
	var m map[string]any
	if p.keep {
		m = map[string]any{}
	}
	var last []byte
	for n := 0; !p.next("}"); n++ {
		if n > 0 {
			p.lit(",")
		}
		start := p.i
		key := p.text()
		if n > 0 && bytes.Compare(last, key) >= 0 {
			p.i = start
			p.fail("keys are sorted, and none comes twice")
		}
		last = key
		p.lit(":")
		at := p.i
		v := p.value(depth + 1)
		if p.problem != "" {
			return nil
		}
		if p.keep {
			m[string(key)] = v
		}
		if depth == 0 && string(key) == "of" && p.b[at] >= '0' && p.b[at] <= '9' {
			p.of, _ = strconv.ParseInt(string(p.b[at:p.i]), 10, 64)
		}
	}
	return m
}

// short are the escapes of two characters (RFC 8259, section 7), by their second.
var short = [256]byte{'"': '"', '\\': '\\', 'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r'}

// text reads a string and returns what it says: bytes of the line where nothing is escaped.
func (p *parser) text() []byte {
	if !p.next(`"`) {
		p.fail("")
		return nil
	}
	start := p.i
	var out []byte // what was unescaped so far; nil when nothing was
	plain := p.i
	for p.i < len(p.b) {
		switch c := p.b[p.i]; {
		case c == '"':
			s := p.b[plain:p.i]
			if out != nil {
				s = append(out, s...)
			}
			if !utf8.Valid(p.b[start:p.i]) {
				p.i = start
				p.fail("not UTF-8")
				return nil
			}
			p.i++
			return s
		case c < ' ':
			p.fail("a control character that is not escaped")
			return nil
		case c == '\\':
			out = append(out, p.b[plain:p.i]...)
			ch, n := p.escape()
			if n == 0 {
				p.fail("an escape that is not needed, or not so")
				return nil
			}
			out = append(out, ch)
			p.i += n
			plain = p.i
		default:
			p.i++
		}
	}
	p.fail("")
	return nil
}

// escape is the byte that the escape here stands for, and the escape's length: 0 when it is none that the form has.
func (p *parser) escape() (byte, int) {
	rest := p.b[p.i:]
	if len(rest) >= 2 && short[rest[1]] != 0 {
		return short[rest[1]], 2
	}
	if len(rest) < 6 || string(rest[:4]) != `\u00` {
		return 0, 0
	}
	n, err := strconv.ParseUint(string(rest[4:6]), 16, 8)
	if err != nil || n >= ' ' || bytes.ContainsAny(rest[4:6], "ABCDEF") || bytes.IndexByte([]byte("\b\t\n\f\r"), byte(n)) >= 0 {
		return 0, 0
	}
	return byte(n), 6
}
