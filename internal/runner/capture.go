package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger"
)

const (
	maxKept = 64 << 20 // bytes of one stream that are kept on disk
	maxHead = 16 << 20 // bytes of stdout that may be one JSON value
	maxTail = 1 << 20  // bytes of its end that are always remembered: the longest last line of a larger output
)

// errKeep is in the tree of an error of what the capture writes to, and not of what it captures.
var errKeep = errors.New("keeping output")

// capture takes one output stream of a command: scrubbed, counted and digested as it flows. Memory is bounded by
// the head it remembers and 2*maxTail whatever the command prints; a file keeps more.
type capture struct {
	file     *os.File // nil: not kept
	redactor io.WriteCloser
	sum      hash.Hash
	raw      int64 // bytes that the command printed
	scrubbed int64 // bytes after scrubbing
	most     int   // bytes of head
	head     []byte
	tail     []byte // the end of the stream, without a gap
	utf8     utf8Check
	finds    finds
	mac      hash.Hash // of what the command printed; nil: no key
	closed   bool
}

// newCapture keeps a stream in log.stream, when there is a log, and remembers its first bytes up to head.
func (r *run) newCapture(log, stream string, head int) (*capture, error) {
	c := &capture{sum: sha256.New(), finds: finds{}, mac: r.mac(), most: head}
	if log != "" {
		f, err := os.OpenFile(log+"."+stream, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errKeep, err)
		}
		c.file = f
	}
	c.redactor = r.Secrets.Writer(after{c}, c.finds.add)
	return c, nil
}

// Write takes what the command printed.
func (c *capture) Write(b []byte) (int, error) {
	c.raw += int64(len(b))
	c.utf8.write(b)
	if c.mac != nil {
		c.mac.Write(b)
	}
	return c.redactor.Write(b)
}

// after is the capture behind the scrubber: nothing before it reaches memory that is kept, the disk or a digest.
type after struct{ *capture }

func (a after) Write(b []byte) (int, error) {
	c := a.capture
	c.sum.Write(b)
	if keep := min(int64(len(b)), max(0, maxKept-c.scrubbed)); c.file != nil && keep > 0 {
		if _, err := c.file.Write(b[:keep]); err != nil {
			return 0, fmt.Errorf("%w: %w", errKeep, err)
		}
	}
	c.scrubbed += int64(len(b))
	c.head = append(c.head, b[:min(len(b), c.most-len(c.head))]...)
	switch {
	case len(b) >= maxTail:
		c.tail = append(c.tail[:0], b[len(b)-maxTail:]...)
	case len(c.tail)+len(b) > 2*maxTail:
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-maxTail:]...)
		fallthrough
	default:
		c.tail = append(c.tail, b...)
	}
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
		if cerr := c.file.Close(); cerr != nil {
			err = errors.Join(err, fmt.Errorf("%w: %w", errKeep, cerr))
		}
	}
	return err
}

// whole is the head, and whether it is all of the stream.
func (c *capture) whole() ([]byte, bool) { return c.head, c.scrubbed == int64(len(c.head)) }

// lastLine is the last line that is not empty, and whether all of it is remembered.
func (c *capture) lastLine() ([]byte, bool) {
	if all, whole := c.whole(); whole {
		return lastLine(all, true)
	}
	return lastLine(c.tail, int64(len(c.tail)) == c.scrubbed)
}

// ends are the first and the last bytes of the stream, up to each of both, and whether that is all of it. The head that
// the capture remembers is that long at least.
func (c *capture) ends(each int) (string, bool) {
	if c.scrubbed <= int64(2*each) && c.scrubbed <= int64(len(c.tail)) {
		return strings.ToValidUTF8(string(c.tail[int64(len(c.tail))-c.scrubbed:]), "\uFFFD"), true
	}
	head, tail := c.head[:min(len(c.head), each)], c.tail[len(c.tail)-min(len(c.tail), each):]
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", strings.ToValidUTF8(string(head), "\uFFFD"),
		c.scrubbed-int64(len(head))-int64(len(tail)), strings.ToValidUTF8(string(tail), "\uFFFD")), false
}

// openKept opens what a capture has kept.
func openKept(name string) (io.ReadCloser, error) { return os.Open(name) }

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
