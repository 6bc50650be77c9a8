package account

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// Filter chooses entries. The zero value takes all.
type Filter struct {
	Step  string
	Types []string // an entry's type, or the part before its dot
	Since time.Time
	Until time.Time      // not after; zero for no end
	Grep  *regexp.Regexp // of Text
}

// Wants says whether e is one that the filter takes.
func (f Filter) Wants(e verify.Entry) bool {
	switch {
	case f.Step != "" && e.Step != f.Step, !f.wantsType(e.Type), !f.wantsTime(e.Time):
		return false
	}
	return f.Grep == nil || f.Grep.MatchString(Text(e))
}

func (f Filter) wantsType(typ string) bool {
	for _, t := range f.Types {
		if rest, ok := strings.CutPrefix(typ, t); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return len(f.Types) == 0
}

func (f Filter) wantsTime(t time.Time) bool {
	return !t.Before(f.Since) && (f.Until.IsZero() || !t.After(f.Until))
}

// head is what a line begins with, read without the rest of it.
type head struct {
	seq             int64
	time, typ, step []byte
}

// cutHead reads the beginning of a line in the one form that entries have; ok is false for any other.
func cutHead(line []byte) (h head, ok bool) {
	const lead, stamp = `{"seq":`, len("2006-01-02T15:04:05.000Z")
	rest, ok := bytes.CutPrefix(line, []byte(lead))
	if !ok {
		return h, false
	}
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && h.seq < 1<<53 {
		h.seq, rest = h.seq*10+int64(rest[0]-'0'), rest[1:]
	}
	h.time, rest, ok = cutText(rest, `,"time":"`)
	if !ok || len(h.time) != stamp {
		return h, false
	}
	if _, rest, ok = cutText(rest, `,"run":"`); !ok {
		return h, false
	}
	if h.typ, rest, ok = cutText(rest, `,"type":"`); !ok {
		return h, false
	}
	if bytes.HasPrefix(rest, []byte(`,"step":"`)) {
		h.step, rest, ok = cutText(rest, `,"step":"`)
	}
	return h, ok && bytes.HasPrefix(rest, []byte(`,"data":{`))
}

// cutText takes a string without escapes after lead.
func cutText(line []byte, lead string) (text, rest []byte, ok bool) {
	if len(line) < len(lead) || string(line[:len(lead)]) != lead {
		return nil, nil, false
	}
	line = line[len(lead):]
	end := bytes.IndexByte(line, '"')
	if end < 0 || bytes.IndexByte(line[:end], '\\') >= 0 {
		return nil, nil, false
	}
	return line[:end], line[end+1:], true
}

// Broken is the error of a line that does not hold.
type Broken struct {
	Line    int
	Problem string // follows "line N"
	Torn    bool   // it is the last and has no newline
}

func (b *Broken) Error() string { return fmt.Sprintf("line %d %s", b.Line, b.Problem) }

// Scan calls seen, which may be nil, with the type and the step of each line, and gives fn the entries of r that f wants, in order, and is quick in a ledger where they are few: a line that the
// filter cannot want is neither parsed nor hashed. What it checks is less than verify.Check does: that seqs follow one
// another, that each line names the hash which the line before it claims, and of the lines given to fn that they are in
// canonical form and have the hash they claim. An edit of another line, which keeps its hash, is not seen.
// It ends with nil at the end of r, with *Broken at a line that does not hold, or with the error of r or fn. last is the
// last line's type. It keeps one line.
func Scan(r io.Reader, f Filter, seen func(typ string, step []byte), fn func(verify.Entry) error) (last string, err error) {
	s := scanner{r: bufio.NewReaderSize(r, 1<<20), filter: f, literal: literalOf(f.Grep), seen: seen}
	for {
		line, err := s.line()
		if errors.Is(err, io.EOF) {
			return s.typ, nil
		}
		if err == nil {
			err = s.take(line, fn)
		}
		if err != nil {
			return s.typ, err
		}
	}
}

type scanner struct {
	r       *bufio.Reader
	filter  Filter
	literal []byte // stands in each line that Grep finds; nil when nothing is known to
	seen    func(typ string, step []byte)
	parser  verify.Parser
	buf     []byte
	n       int
	hash    [64]byte // that the line before claims
	typ     string
}

// line reads a line without its newline; it is valid until the next call.
func (s *scanner) line() ([]byte, error) {
	s.n++
	part, err := s.r.ReadSlice('\n')
	if err == nil {
		return part[:len(part)-1], nil
	}
	s.buf = s.buf[:0]
	for ; ; part, err = s.r.ReadSlice('\n') {
		s.buf = append(s.buf, part...)
		switch {
		case len(s.buf) > verify.MaxLine:
			return nil, s.broken("is longer than %d bytes", verify.MaxLine)
		case err == nil:
			return s.buf[:len(s.buf)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(s.buf) > 0:
			b := s.broken("is torn: %d bytes without a newline at the end", len(s.buf))
			b.Torn = true
			return nil, b
		default:
			return nil, err
		}
	}
}

func (s *scanner) broken(format string, args ...any) *Broken {
	return &Broken{Line: s.n, Problem: fmt.Sprintf(format, args...)}
}

// tail is how every line ends; the hashes are hex digits.
const tail = `,"prev":"sha256:` + `0000000000000000000000000000000000000000000000000000000000000000` +
	`","hash":"sha256:` + `0000000000000000000000000000000000000000000000000000000000000000"}`

const (
	prevAt = len(`,"prev":"sha256:`)
	hashAt = prevAt + 64 + len(`","hash":"sha256:`)
)

func (s *scanner) take(line []byte, fn func(verify.Entry) error) error {
	h, ok := cutHead(line)
	if !ok || len(line) < len(tail) {
		return s.parse(line, nil) // in full, to say what is wrong with it
	}
	if h.seq != int64(s.n) {
		return s.broken("is entry %d: a line was removed, added or moved", h.seq)
	}
	end := line[len(line)-len(tail):]
	if s.n > 1 && string(end[prevAt:prevAt+64]) != string(s.hash[:]) {
		return s.broken("does not follow the line before it")
	}
	copy(s.hash[:], end[hashAt:])
	if string(h.typ) != s.typ {
		s.typ = string(h.typ)
	}
	if s.seen != nil {
		s.seen(s.typ, h.step)
	}
	if !s.may(h, line) {
		return nil
	}
	sum := sha256.Sum256(line[:len(line)-len(tail)+hashAt-len(`,"hash":"sha256:`)])
	if hex.EncodeToString(sum[:]) != string(s.hash[:]) {
		return s.broken("was edited: its hash does not match its bytes")
	}
	return s.parse(line, fn)
}

// may says whether the filter could want the line, by its bytes alone.
func (s *scanner) may(h head, line []byte) bool {
	if s.filter.Step != "" && string(h.step) != s.filter.Step || !s.filter.wantsType(s.typ) {
		return false
	}
	if !s.filter.Since.IsZero() || !s.filter.Until.IsZero() {
		if t, err := time.Parse(time.RFC3339Nano, string(h.time)); err == nil && !s.filter.wantsTime(t) {
			return false
		}
	}
	return s.literal == nil || bytes.Contains(line, s.literal)
}

// parse reads the line in the only form it may have, and gives it to fn when the filter wants it.
func (s *scanner) parse(line []byte, fn func(verify.Entry) error) error {
	e, err := s.parser.Parse(line)
	var bad *verify.BadLine
	switch {
	case errors.As(err, &bad):
		return s.broken("%s", bad.Problem)
	case fn == nil:
		return s.broken("is no entry in the form that this ledger's entries have")
	case !s.filter.Wants(e):
		return nil
	}
	e.Line = s.n
	return fn(e)
}

// plainWord is text that stands in a line as it stands in Text: no escape is needed for it, and nothing is put into it.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:-]+$`)

// literalOf is what must stand in the bytes of each line that re finds; nil when that is not known.
func literalOf(re *regexp.Regexp) []byte {
	if re == nil {
		return nil
	}
	if word, _ := re.LiteralPrefix(); plainWord.MatchString(word) {
		return []byte(word)
	}
	return nil
}

// Text is what Grep looks in: the type, the step, and every name and value of the data as they are, joined by spaces.
func Text(e verify.Entry) string {
	var b strings.Builder
	b.WriteString(e.Type + " " + e.Step)
	addText(&b, e.Data)
	return b.String()
}

func addText(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(" " + key)
			addText(b, v[key])
		}
	case []any:
		for _, x := range v {
			addText(b, x)
		}
	case string:
		b.WriteString(" " + v)
	case int64:
		b.WriteString(" " + strconv.FormatInt(v, 10))
	case bool:
		b.WriteString(" " + strconv.FormatBool(v))
	}
}
