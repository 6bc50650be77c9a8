package container

import (
	"bufio"
	"html"
	"io"
	"path"
	"strings"
)

// isMarkup says whether a member is text in elements, going by its name.
func isMarkup(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".xml", ".rels", ".html", ".xhtml", ".htm", ".svg":
		return true
	}
	return false
}

// markup is text without its tags, read from what has them.
type markup struct {
	in   *bufio.Reader
	out  []byte // text that was not read yet
	tag  []byte // the beginning of the tag that is open
	open bool
	err  error
}

const (
	maxTag    = 64      // bytes of a tag that are remembered
	maxEntity = 16      // bytes from & to ;
	portion   = 4 << 10 // bytes that are looked at at once
)

// markupText reads the text of XML or HTML: what is between the tags, joined, with a line's end where a paragraph, a cell or
// the like ends. It never fails on what is not well-formed.
func markupText(r io.Reader) io.Reader { return &markup{in: bufio.NewReader(r)} }

func (m *markup) Read(p []byte) (int, error) {
	for len(m.out) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		m.fill()
	}
	n := copy(p, m.out)
	m.out = m.out[n:]
	return n, nil
}

func (m *markup) fill() {
	m.out = m.out[:0:0]
	for len(m.out) < portion {
		c, err := m.in.ReadByte()
		if err != nil {
			m.err = err
			return
		}
		switch {
		case m.open && c == '>':
			m.open = false
			if ends(string(m.tag)) {
				m.out = append(m.out, '\n')
			}
		case m.open:
			if len(m.tag) < maxTag {
				m.tag = append(m.tag, c)
			}
		case c == '<':
			m.open, m.tag = true, m.tag[:0]
		case c == '&':
			m.entity()
		default:
			m.out = append(m.out, c)
		}
	}
}

// entity reads what follows an ampersand.
func (m *markup) entity() {
	ahead, _ := m.in.Peek(maxEntity)
	i := strings.IndexByte(string(ahead), ';')
	if i < 0 {
		m.out = append(m.out, '&')
		return
	}
	m.out = append(m.out, html.UnescapeString("&"+string(ahead[:i+1]))...)
	_, _ = m.in.Discard(i + 1) // what Peek has shown
}

// ends says whether a tag ends a piece of text: of w:p, a:p, text:p, text:h, si, c, row, tr, td, li, br and the like.
func ends(tag string) bool {
	name, closing := strings.CutPrefix(strings.Fields(tag + " ?")[0], "/")
	if !closing && !strings.HasSuffix(tag, "/") {
		return false
	}
	name = strings.TrimSuffix(name, "/")
	switch name[strings.LastIndexByte(name, ':')+1:] {
	case "p", "h", "si", "c", "row", "tr", "td", "li", "br", "tab", "line-break", "table-cell":
		return true
	}
	return false
}
