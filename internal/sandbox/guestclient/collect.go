package guestclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// collection reads one Collect stream.
type collection struct {
	world  *world
	ctx    context.Context //nolint:containedctx // of one call
	frames *guestproto.Frames
	roll   *rolled // nil: the next frames come through the session
	caps   policy.Artifacts
	put    func(sandbox.Found, io.Reader) error
	got    sandbox.Collected
	last   []byte // path
	files  int
	bytes  int64
	skips  int // that the guest reported
}

// sink is an error of the caller's own put.
type sink struct{ error }

func (s sink) Unwrap() error { return s.error }

// Collect takes what the step left in /workspace/out; see sandbox.World. The caps are enforced here too, whatever the
// guest does with them.
func (w *world) Collect(ctx context.Context, caps policy.Artifacts, put func(sandbox.Found, io.Reader) error) (sandbox.Collected, error) {
	req := guestproto.Collect{Caps: caps, Beside: w.client.files != nil}
	stream, done, err := w.client.open(ctx, guestproto.Request{Op: guestproto.OpCollect, World: w.id, Collect: &req}, !req.Beside)
	if err != nil {
		return sandbox.Collected{}, err
	}
	defer done()
	c := collection{world: w, ctx: ctx, frames: guestproto.NewFrames(stream), caps: caps, put: put}
	err = c.receive()
	c.rewind()
	var refused *refusal
	var mine sink
	var away errAway
	switch {
	case err == nil, errors.As(err, &refused):
		return c.got, err
	case errors.As(err, &mine):
		return c.got, mine.error
	case errors.As(err, &away) && ctx.Err() == nil:
		w.client.Fail(away.error)
		return c.got, w.client.gone()
	default:
		return c.got, w.client.failed(ctx, err)
	}
}

func (c *collection) receive() error {
	for {
		kind, body, err := c.next()
		if err != nil {
			return err
		}
		switch kind {
		case guestproto.FrameFile, guestproto.FrameSkip:
			var head guestproto.FileHeader
			if err := json.Unmarshal(body, &head); err != nil {
				return err
			}
			if err := c.entry(kind, head); err != nil {
				return err
			}
		case guestproto.FrameEnd:
			return nil
		case guestproto.FrameError:
			return refusalOf(body)
		default:
			return fmt.Errorf("frame of kind %d in a collection", kind)
		}
	}
}

func (c *collection) entry(kind guestproto.Kind, head guestproto.FileHeader) error {
	if kind == guestproto.FrameFile {
		if err := checkPath(c.last, head.Path); err != nil {
			return err
		}
		c.last = head.Path
		return c.file(head)
	}
	c.skips++
	if c.skips > len(guestproto.SkipReasons)*(guestproto.MaxNamed+1) {
		return errors.New("more skipped files than it may report")
	}
	if len(head.Path) > guestproto.MaxPath || !guestproto.SkipReasons[head.Reason] || head.Size < 0 || head.Count < 0 || head.Count > 0 && len(head.Path) > 0 {
		return errors.New("a skipped file that cannot be")
	}
	c.got.Skipped = append(c.got.Skipped, sandbox.Skip{Path: string(head.Path), Reason: head.Reason, Size: head.Size, Count: head.Count})
	return nil
}

// checkPath holds a path to what a walk can find, in the order of a walk, so that no file comes twice.
func checkPath(last, path []byte) error {
	if len(path) == 0 || len(path) > guestproto.MaxPath || bytes.IndexByte(path, 0) >= 0 {
		return errors.New("a path that cannot be")
	}
	for part := range bytes.SplitSeq(path, []byte("/")) {
		if len(part) == 0 || string(part) == "." || string(part) == ".." {
			return errors.New("a path that leaves /workspace/out")
		}
	}
	if last != nil && guestproto.ComparePaths(last, path) >= 0 {
		return errors.New("files out of order")
	}
	return nil
}

// file hands one file to put and checks that put read all of it.
func (c *collection) file(head guestproto.FileHeader) error {
	if head.Size < 0 || head.Size > int64(c.caps.MaxFile) || c.files >= c.caps.MaxFiles || head.Size > int64(c.caps.MaxTotal)-c.bytes {
		return errors.New("more files than the plan's caps allow")
	}
	c.files++
	c.bytes += head.Size
	r := &fileReader{collection: c, left: head.Size}
	var err error
	if r.beside, err = c.fetch(head); err != nil {
		return err
	}
	if r.beside != nil {
		defer r.beside.Close()
	}
	found := sandbox.Found{Path: string(head.Path), Size: head.Size, ModTime: time.Unix(0, head.ModTime).UTC()}
	err = c.put(found, r)
	switch {
	case r.broken != nil:
		return r.broken
	case r.cut != nil:
		// The guest could not read its own file to the end: that is the step's doing, and no artifact.
		c.got.Skipped = append(c.got.Skipped, sandbox.Skip{Path: found.Path, Reason: "unreadable", Size: head.Size})
		return nil
	case err != nil:
		return sink{err}
	case !r.done:
		return sink{fmt.Errorf("collecting %q: not read to its end", head.Path)}
	}
	return nil
}

// fileReader is the body of one file: FrameData… and FrameFileEnd.
type fileReader struct {
	*collection
	beside io.ReadCloser // nil: the bytes come in frames
	rest   []byte
	left   int64
	done   bool
	cut    error // the guest's own reading failed
	broken error // the channel, or the guest's word, failed
}

func (r *fileReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		switch {
		case r.broken != nil:
			return 0, r.broken
		case r.cut != nil:
			return 0, r.cut
		case r.done:
			return 0, io.EOF
		}
		if r.beside != nil && r.left > 0 {
			return r.readBeside(p)
		}
		r.broken = r.fill()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *fileReader) fill() error {
	kind, body, err := r.next()
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
		switch {
		case reply.Error != "":
			r.cut = errors.New(reply.Error)
		case r.left != 0:
			return errors.New("a file smaller than announced")
		default:
			r.done = true
		}
		return nil
	default:
		return fmt.Errorf("frame of kind %d in a file", kind)
	}
}
