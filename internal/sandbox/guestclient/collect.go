package guestclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// maxSkips bounds what a guest may report as left behind.
const maxSkips = 2_000

// collection reads one Collect stream.
type collection struct {
	frames *guestproto.Frames
	caps   policy.Artifacts
	put    func(sandbox.Found, io.Reader) error
	files  int
	bytes  int64
}

func (c *collection) receive(got *sandbox.Collected) error {
	for {
		kind, body, err := c.frames.Read()
		if err != nil {
			return err
		}
		switch kind {
		case guestproto.FrameFile:
			var head guestproto.FileHeader
			if err := json.Unmarshal(body, &head); err != nil {
				return err
			}
			if err := c.file(head, got); err != nil {
				return err
			}
		case guestproto.FrameSkip:
			var head guestproto.FileHeader
			if err := json.Unmarshal(body, &head); err != nil {
				return err
			}
			if len(got.Skipped) >= maxSkips {
				return errors.New("more skipped files than it may report")
			}
			got.Skipped = append(got.Skipped, sandbox.Skip{Path: string(head.Path), Reason: head.Reason, Size: head.Size})
		case guestproto.FrameEnd:
			return nil
		case guestproto.FrameError:
			return refusalOf(body)
		default:
			return fmt.Errorf("frame of kind %d in a collection", kind)
		}
	}
}

// file hands one file to put and checks that put read all of it.
func (c *collection) file(head guestproto.FileHeader, got *sandbox.Collected) error {
	c.files++
	c.bytes += head.Size
	if head.Size < 0 || head.Size > int64(c.caps.MaxFile) || c.files > c.caps.MaxFiles || c.bytes > int64(c.caps.MaxTotal) {
		return errors.New("more files than the plan's caps allow")
	}
	r := &fileReader{frames: c.frames, left: head.Size}
	found := sandbox.Found{Path: string(head.Path), Size: head.Size, ModTime: time.Unix(0, head.ModTime).UTC()}
	if err := c.put(found, r); err != nil {
		if r.cut == nil {
			return sink{err}
		}
		// The guest could not read its own file to the end: that is the step's doing, and no artifact.
		got.Skipped = append(got.Skipped, sandbox.Skip{Path: found.Path, Reason: "unreadable", Size: head.Size})
		return nil
	}
	if !r.done {
		return sink{fmt.Errorf("collecting %q: not read to its end", head.Path)}
	}
	return nil
}

// fileReader is the body of one file: FrameData… and FrameFileEnd.
type fileReader struct {
	frames *guestproto.Frames
	rest   []byte
	left   int64
	done   bool
	cut    error // the guest's own reading failed
}

func (r *fileReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.done {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *fileReader) next() error {
	kind, body, err := r.frames.Read()
	if err != nil {
		return err
	}
	switch kind {
	case guestproto.FrameData:
		r.left -= int64(len(body))
		if r.left < 0 {
			return errors.New("a file larger than announced")
		}
		r.rest = body
		return nil
	case guestproto.FrameFileEnd:
		var reply guestproto.Reply
		if err := json.Unmarshal(body, &reply); err != nil {
			return err
		}
		if reply.Error != "" {
			r.cut = errors.New(reply.Error)
			return r.cut
		}
		if r.left != 0 {
			return errors.New("a file smaller than announced")
		}
		r.done = true
		return nil
	default:
		return fmt.Errorf("frame of kind %d in a file", kind)
	}
}
