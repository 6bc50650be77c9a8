package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/secret"
)

const (
	maxKept = 64 << 20 // bytes of one stream that are kept on disk
	maxHead = 16 << 20 // bytes of stdout that may be one JSON value
	maxTail = 1 << 20  // bytes of its end in which the last line is looked for
)

// capture takes one output stream of a command: scrubbed, counted and digested as it flows. Memory is bounded by
// maxHead and maxTail whatever the command prints; a file keeps more.
type capture struct {
	file     *os.File // nil: not kept
	redactor io.WriteCloser
	sum      hash.Hash
	raw      int64 // bytes that the command printed
	scrubbed int64 // bytes after scrubbing
	head     []byte
	tail     []byte
	utf8     utf8Check
	hits     map[string]int // by secret
	closed   bool
}

func (r *run) newCapture(log, stream string) (*capture, error) {
	c := &capture{sum: sha256.New(), hits: map[string]int{}}
	if log != "" {
		f, err := os.OpenFile(log+"."+stream, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("keeping output: %w", err)
		}
		c.file = f
	}
	c.redactor = r.Secrets.Writer(after{c}, func(h secret.Hit) { c.hits[h.Name]++ })
	return c, nil
}

// Write takes what the command printed.
func (c *capture) Write(b []byte) (int, error) {
	c.raw += int64(len(b))
	c.utf8.write(b)
	return c.redactor.Write(b)
}

// after is the capture behind the scrubber: nothing before it reaches memory that is kept, the disk or a digest.
type after struct{ *capture }

func (a after) Write(b []byte) (int, error) {
	c := a.capture
	c.sum.Write(b)
	if keep := min(int64(len(b)), max(0, maxKept-c.scrubbed)); c.file != nil && keep > 0 {
		if _, err := c.file.Write(b[:keep]); err != nil {
			return 0, fmt.Errorf("keeping output: %w", err)
		}
	}
	c.scrubbed += int64(len(b))
	c.head = append(c.head, b[:min(len(b), maxHead+1-len(c.head))]...)
	if len(c.tail) > 2*maxTail {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-maxTail:]...)
	}
	c.tail = append(c.tail, b[max(0, len(b)-maxTail):]...)
	return len(b), nil
}

// close flushes what the scrubber held back. It may be called twice.
func (c *capture) close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	err := c.redactor.Close()
	if c.file != nil {
		err = errors.Join(err, c.file.Close())
	}
	return err
}

// whole is the stream when it fits maxHead.
func (c *capture) whole() ([]byte, bool) { return c.head, c.scrubbed <= maxHead }

// last is the end of the stream for a person.
func (c *capture) last() []byte {
	const show = 4 << 10
	return c.tail[max(0, len(c.tail)-show):]
}

// data is what the ledger says about the stream. The size is what the command printed; the digest is of the scrubbed
// bytes, which are the same unless something was found.
func (c *capture) data() ledger.Data {
	d := ledger.Data{"bytes": c.raw, "sha256": "sha256:" + hex.EncodeToString(c.sum.Sum(nil))}
	if c.scrubbed > maxKept {
		d["kept"], d["truncated"] = maxKept, true
	}
	if !c.utf8.valid() {
		d["encoding"] = "invalid"
	}
	return d
}

// recordHits says what was found where, never the value.
func (r *run) recordHits(step, where string, hits map[string]int) error {
	var errs []error
	for _, name := range sorted(hits) {
		_, err := r.Ledger.Append(ledger.ScrubFound, step, ledger.Data{"in": r.text(where), "secret": name, "count": hits[name]})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

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
