package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// part is one string of a JSON text, and where it stands.
type part struct {
	start, end int // of the literal, its quotes included
	torn       bool
	text       string
	changed    bool
	path       []*level
	keys       []string // of each level, when it was reached
	at         []int
}

// level is an object or a list on the way to a string.
type level struct {
	list    bool
	index   string // what an object says of its place among its kind, "" if it does not
	key     string
	isValue bool // a key was read
	n       int  // elements of a list that were read
}

// strict is a string's place among those of the same kind: the names that lead to it, and the index where a list or an event has
// one, which both providers' events have for what continues (a block, a call, a choice).
func (p *part) strict() string { return p.place(true) }

// loose is the place without any index: who joins the blocks of an answer reads one text.
func (p *part) loose() string { return p.place(false) }

func (p *part) place(index bool) string {
	var b strings.Builder
	for i, l := range p.path {
		switch {
		case !l.list && index && l.index != "":
			b.WriteString("#" + l.index + "." + p.keys[i])
		case !l.list:
			b.WriteString("." + p.keys[i])
		case index && (i+1 == len(p.path) || p.path[i+1].index == ""):
			b.WriteString("[" + strconv.Itoa(p.at[i]) + "]")
		default:
			b.WriteString("[]")
		}
	}
	return b.String()
}

// literal is a text as it stands in the place of this one.
func (p *part) literal(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always encodes
	lit := strings.TrimSuffix(b.String(), "\n")
	if p.torn {
		return strings.TrimSuffix(lit, `"`)
	}
	return lit
}

// maxDepth bounds the way to a string that is remembered; what lies deeper has the place of all that does.
const maxDepth = 32

// literals are the strings of a JSON text, keys excepted, in their order. What is no JSON is read as far as it is, and a string that
// breaks off counts to its line's end. whole says that there is nothing in the text but JSON, which may break off.
func literals(doc []byte) (list []*part, whole bool) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var path []*level
	add := func(start, end int, text string, torn bool) {
		near := path[:min(len(path), maxDepth)]
		p := &part{start: start, end: end, text: text, torn: torn, path: append([]*level(nil), near...)}
		for _, l := range near {
			p.keys, p.at = append(p.keys, l.key), append(p.at, l.n)
		}
		list = append(list, p)
	}
	for {
		from := int(dec.InputOffset())
		tok, err := dec.Token()
		top := &level{isValue: true}
		if len(path) > 0 {
			top = path[len(path)-1]
		}
		if err != nil {
			if i := bytes.IndexByte(doc[from:], '"'); i >= 0 && (top.list || top.isValue) {
				lit, _, _ := bytes.Cut(doc[from+i:], []byte("\n"))
				add(from+i, from+i+len(lit), unquoted(lit), true)
			}
			return list, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
		if d, ok := tok.(json.Delim); ok {
			if d == '}' || d == ']' {
				path = path[:len(path)-1]
				if len(path) > 0 {
					path[len(path)-1].read("", nil)
				}
			} else {
				path = append(path, &level{list: d == '['})
			}
			continue
		}
		text, isText := tok.(string)
		if isText && !top.list && !top.isValue {
			top.key, top.isValue = alike(text), true
			continue
		}
		if isText {
			end := int(dec.InputOffset())
			add(from+bytes.IndexByte(doc[from:end], '"'), end, text, false)
		}
		top.read(top.key, tok)
	}
}

// read takes note of a value.
func (l *level) read(key string, tok json.Token) {
	if n, ok := tok.(json.Number); ok && !l.list && key == "index" {
		l.index = n.String()
	}
	l.isValue = false
	l.n++
}

// alike is a key without what readers do not tell apart: its case, and the event of Anthropic's that begins a block with the first
// of its text, which its deltas continue.
func alike(key string) string {
	key = strings.ToLower(key)
	if key == "content_block" {
		return "delta"
	}
	return key
}

// unquoted is the text of a literal that breaks off, as far as it can be read.
func unquoted(lit []byte) string {
	for cut := range min(len(lit), len(`"\u0000\u0000`)) {
		var text string
		if json.Unmarshal(append(bytes.Clone(lit[:len(lit)-cut]), '"'), &text) == nil {
			return text
		}
	}
	return ""
}

// piecesOf are the strings of every event's data, by their places in the stream; nil when there are more than maxPieces.
func piecesOf(body []byte) (list []*part) {
	var doc []byte
	var from, to []int // of each line of doc: in doc, in the body
	flush := func() {
		found, _ := literals(doc)
		for _, p := range found {
			line := len(from) - 1
			for line > 0 && from[line] > p.start {
				line--
			}
			shift := to[line] - from[line]
			p.start, p.end = p.start+shift, p.end+shift
			list = append(list, p)
		}
		doc, from, to = doc[:0], from[:0], to[:0]
	}
	for at := 0; at < len(body); {
		line := body[at:]
		next := len(body)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], at+i+1
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			from, to = append(from, len(doc)), append(to, at+len("data:"))
			doc = append(append(doc, data...), '\n')
		} else if len(line) == 0 {
			flush()
		}
		if at = next; len(list) > maxPieces {
			return nil
		}
	}
	flush()
	if len(list) > maxPieces {
		return nil
	}
	return list
}
