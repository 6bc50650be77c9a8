package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/term"
)

// text is what a stranger wrote, ready to be shown.
type text struct {
	Head, Tail string
	Left       string // how much between them is not shown; "" for none
	Problem    string // why nothing is shown, or what is wrong with what is
	Of         string // what it is the text of, for who comes to it by the keyboard
}

// Named is a text that says what it is of.
func (t text) Named(of string) text {
	t.Of = of
	return t
}

// room is what a page may still take.
type room struct {
	text, images int    // bytes in the page
	read         int64  // bytes to read and hash
	gone         string // why what is not kept was removed; "" when nobody knows
}

// weight is what s takes as HTML, at most.
func weight(s string) int {
	n := len(s)
	for i := range len(s) {
		switch s[i] {
		case '"', '&', '\'', '+', '<', '>':
			n += len("&#34;") - 1
		}
	}
	return n
}

// fit makes control characters visible and takes the room that the text needs, or leaves the text out.
func (r *room) fit(t text) text {
	t.Head, t.Tail = term.Escape(t.Head), term.Escape(t.Tail)
	need := weight(t.Head) + weight(t.Tail)
	if need > r.text {
		return text{Problem: "left out, since the page has enough text: joy ledger show --full prints it"}
	}
	r.text -= need
	return t
}

// shortLine is how much of a line, in bytes, is dropped where text is cut.
const shortLine = 512

// endsOf keeps the first and the last bytes of what is written to it.
type endsOf struct {
	head, tail []byte
	heads      int
	tails      int
	total      int64
}

func (k *endsOf) Write(b []byte) (int, error) {
	n := len(b)
	k.total += int64(n)
	if free := k.heads - len(k.head); free > 0 {
		part := b[:min(free, len(b))]
		k.head, b = append(k.head, part...), b[len(part):]
	}
	k.tail = append(k.tail, b[max(0, len(b)-k.tails):]...)
	if over := len(k.tail) - k.tails; over > 0 {
		k.tail = append(k.tail[:0], k.tail[over:]...)
	}
	return n, nil
}

// text is what was kept: whole lines where they are short, and no character of which only a part was kept.
func (k *endsOf) text() text {
	left := k.total - int64(len(k.head)) - int64(len(k.tail))
	if left == 0 {
		return text{Head: string(append(k.head, k.tail...))}
	}
	head, tail := wholeRunes(string(k.head)), k.tail
	if end := strings.LastIndexByte(head, '\n'); end >= 0 && len(head)-end < shortLine {
		head = head[:end+1]
	}
	for i := 0; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	if end := bytes.IndexByte(tail[:min(len(tail), shortLine)], '\n'); end >= 0 {
		tail = tail[end+1:]
	}
	left += int64(len(k.head)-len(head)) + int64(len(k.tail)-len(tail))
	return text{Head: head, Tail: string(tail), Left: term.Size(left) + " not shown"}
}

// claim is what a ledger says of bytes that lie elsewhere.
type claim struct {
	bytes  int64
	sha256 string // "sha256:…"
	cut    bool   // what is kept ends early, and cannot be compared
}

func claimOf(v any) claim {
	m, _ := v.(map[string]any)
	c := claim{}
	c.bytes, _ = m["bytes"].(int64)
	c.sha256, _ = m["sha256"].(string)
	c.cut = m["truncated"] == true
	return c
}

// load reads what open gives into w to its end, and says why it may not be shown, or "".
func (r *room) load(w io.Writer, c claim, open func() (io.ReadCloser, error)) (problem string) {
	if c.bytes > r.read {
		return "not read, since the page has read enough: joy ledger show --full prints it"
	}
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) && r.gone != "" {
		return "removed: " + r.gone
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "not kept here"
	}
	if err != nil {
		return "cannot be read: " + line(err.Error())
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(f, r.read))
	r.read -= n
	if err != nil {
		return "cannot be read: " + line(err.Error())
	}
	if !c.cut && "sha256:"+hex.EncodeToString(sum.Sum(nil)) != c.sha256 {
		return "not shown: what is kept is not what the ledger names, it was changed since"
	}
	return ""
}

// show reads text of which at most head and tail bytes are shown.
func (r *room) show(c claim, head, tail int, open func() (io.ReadCloser, error)) text {
	k := &endsOf{heads: head, tails: tail}
	if problem := r.load(k, c, open); problem != "" {
		return text{Problem: problem}
	}
	if !looksLikeText(k.head) {
		return text{Problem: fmt.Sprintf("not shown: %s that are not text", term.Size(k.total))}
	}
	t := r.fit(k.text())
	if c.cut && t.Problem == "" {
		t.Problem = "it went on: what is kept ends here, and cannot be compared with its digest"
	}
	return t
}

// looksLikeText says whether bytes are more text than anything else: of ten at most one is a control character that
// text has no use for, or not UTF-8.
func looksLikeText(b []byte) bool {
	odd := 0
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", r) {
			odd++
		}
		rest = rest[size:]
	}
	return odd*10 <= len(b)
}
