package e2b

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
)

// files is E2B's own transfer of files, many times faster than the session, whose bytes are base64 in JSON
// (docs/adr/0043-a-pipe-that-outlives-its-carrier.md).
type files struct{ *box }

// Send writes a file; see guestclient.Files. It is tried once: the session, which outlives a cut, carries what fails.
func (f files) Send(ctx context.Context, name string, r io.Reader, size int64) error {
	return f.daemon.Upload(ctx, name, r, size)
}

// Fetch opens a file; see guestclient.Files.
func (f files) Fetch(ctx context.Context, name string, size int64) io.ReadCloser {
	return &fetch{box: f.box, ctx: ctx, name: name, size: size}
}

// fetch reads a file that does not change. After a cut it asks for the rest, as long as the session would look for
// another carrier.
type fetch struct {
	box   *box
	ctx   context.Context //nolint:containedctx // of one file
	name  string
	size  int64
	at    int64
	body  io.ReadCloser
	since time.Time // the first failure without a byte since; zero: none
}

// Read gives all of the file or an error.
func (f *fetch) Read(b []byte) (int, error) {
	for f.at < f.size {
		n, err := f.read(b)
		if n > 0 {
			f.at, f.since = f.at+int64(n), time.Time{}
			return n, nil
		}
		if err == nil {
			continue
		}
		_ = f.Close()
		if err := f.hope(err); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

func (f *fetch) read(b []byte) (int, error) {
	if f.body == nil {
		body, size, err := f.box.daemon.DownloadFrom(f.ctx, f.name, f.at)
		if err != nil {
			return 0, err
		}
		f.body = body
		if size >= 0 && size != f.size-f.at {
			return 0, fmt.Errorf("%w: %d bytes of %d", client.ErrProtocol, f.at+size, f.size)
		}
	}
	n, err := f.body.Read(b[:min(int64(len(b)), f.size-f.at)])
	if n == 0 && errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// hope waits a moment before the next attempt. An error says that there will be none.
func (f *fetch) hope(why error) error {
	if f.since.IsZero() {
		f.since = time.Now()
	}
	pause := endPause
	var e *client.Error
	if errors.As(why, &e) {
		pause = max(pause, e.RetryAfter)
	}
	if final(why) || errors.Is(why, client.ErrNotFound) || time.Since(f.since)+pause > f.box.patience() {
		return why
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-f.ctx.Done():
		return f.ctx.Err()
	case <-f.box.life.Done():
		return context.Cause(f.box.life)
	case <-f.box.lost:
		return f.box.reason()
	case <-timer.C:
		return nil
	}
}

// Close lets go of the request.
func (f *fetch) Close() error {
	if f.body == nil {
		return nil
	}
	body := f.body
	f.body = nil
	return body.Close()
}
