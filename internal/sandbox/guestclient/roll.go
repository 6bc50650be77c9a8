package guestclient

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// rolled reads frames from a file beside the session, and fails as its way does.
type rolled struct {
	io.Writer // nobody writes there
	body      io.ReadCloser
	from      *bufio.Reader
	left      int64 // of the file
	failed    error
	frames    *guestproto.Frames
}

// Read has io.EOF for the end of the file alone. A request that was cut may end in one that means the connection's.
func (r *rolled) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.from.Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	if n == 0 && err != nil {
		r.failed = err
	}
	return n, err
}

// unroll has the next frames come from a file that the guest laid out.
func (c *collection) unroll(body []byte) error {
	var head guestproto.FileHeader
	if err := json.Unmarshal(body, &head); err != nil {
		return err
	}
	if head.Beside <= 0 || head.Size <= 0 {
		return errors.New("frames beside the session, where none can be")
	}
	file, err := c.fetch(head)
	if err != nil {
		return err
	}
	c.roll = &rolled{body: file, from: bufio.NewReaderSize(file, guestproto.MaxFrame), left: head.Size}
	c.roll.frames = guestproto.NewFrames(c.roll)
	return nil
}

// rewind has the next frames come through the session again.
func (c *collection) rewind() {
	if c.roll != nil {
		c.roll.body.Close()
		c.roll = nil
	}
}

// next reads one frame, wherever it is. A guest may send faster than a deadline is looked at.
func (c *collection) next() (guestproto.Kind, []byte, error) {
	for {
		if err := c.ctx.Err(); err != nil {
			return 0, nil, err
		}
		if c.roll == nil {
			kind, body, err := c.frames.Read()
			if err != nil || kind != guestproto.FrameBeside {
				return kind, body, err
			}
			if err := c.unroll(body); err != nil {
				return 0, nil, err
			}
		}
		kind, body, err := c.roll.frames.Read()
		switch {
		case c.roll.failed != nil && c.ctx.Err() == nil:
			return 0, nil, errAway{fmt.Errorf("fetching files: %w", c.roll.failed)}
		case c.roll.failed == nil && errors.Is(err, io.EOF):
			c.rewind()
		default:
			return kind, body, err
		}
	}
}
