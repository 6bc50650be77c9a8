package guestclient

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Files is a provider's own way to the VM's files, faster than the session. Names are absolute there.
type Files interface {
	// Send makes a file of size bytes of r, or an error: then the session carries them.
	Send(ctx context.Context, name string, r io.Reader, size int64) error
	// Fetch opens a file of size bytes, whose reader goes on after a cut as long as there is hope. An error of Read means
	// that the VM is out of reach. The caller closes it.
	Fetch(ctx context.Context, name string, size int64) io.ReadCloser
}

// Beside has large files go beside the session, where the guest can use it. It is called before the first Open.
func (c *Client) Beside(files Files) {
	if path.IsAbs(c.boot.Beside) {
		c.files = files
	}
}

// besidePath is a file of the world as the VM's own programs name it.
func (w *world) besidePath(name string) string {
	return path.Join(w.client.boot.Beside, w.id, guestproto.BesideDir, name)
}

// bring sends one file beside the session and gives its number, or 0: the session is to carry it.
func (w *world) bring(ctx context.Context, r io.Reader, size int64) int {
	n := int(w.brought.Add(1))
	if w.client.files.Send(ctx, w.besidePath(guestproto.BesideIn(n)), r, size) != nil {
		return 0
	}
	return n
}

// bringLarge sends the large files and gives their numbers.
func (w *world) bringLarge(ctx context.Context, files []sandbox.File) map[int]int {
	at := map[int]int{}
	if w.client.files == nil {
		return at
	}
	for i, f := range files {
		if f.Size < guestproto.Bulk {
			continue
		}
		r, err := f.Open()
		if err != nil {
			continue // it says so once more
		}
		if n := w.bring(ctx, r, f.Size); n != 0 {
			at[i] = n
		}
		r.Close()
	}
	return at
}

// bringTar sends the tar of the files, when that is large, and gives its number.
func (w *world) bringTar(ctx context.Context, files []sandbox.File, at map[int]int) int {
	if w.client.files == nil {
		return 0
	}
	size, err := tarSize(files, at)
	if err != nil || size < guestproto.Bulk {
		return 0
	}
	r, out := io.Pipe()
	go func() { out.CloseWithError(writeTar(out, files, at)) }()
	defer r.Close()
	return w.bring(ctx, r, size)
}

// header is a file's in the tar. One that was brought is empty there and named by its number.
func header(f sandbox.File, n int) *tar.Header {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.Mode), Size: f.Size, Format: tar.FormatPAX}
	if n != 0 {
		h.PAXRecords = map[string]string{guestproto.RecordBeside: strconv.Itoa(n), guestproto.RecordSize: strconv.FormatInt(f.Size, 10)}
		h.Size = 0
	}
	return h
}

// tarSize is how long what writeTar writes is.
func tarSize(files []sandbox.File, at map[int]int) (int64, error) {
	const block = 512
	var n counter
	for i, f := range files {
		h := header(f, at[i])
		if err := tar.NewWriter(&n).WriteHeader(h); err != nil {
			return 0, err
		}
		n += counter((h.Size + block - 1) / block * block)
	}
	return int64(n) + 2*block, nil
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// errAway is a fetch that failed: the VM is out of reach.
type errAway struct{ error }

func (e errAway) Unwrap() error { return e.error }

// fetch opens the bytes of a file that the guest laid out beside the session.
func (c *collection) fetch(head guestproto.FileHeader) (io.ReadCloser, error) {
	switch {
	case head.Beside == 0:
		return nil, nil
	case c.world.client.files == nil || head.Beside < 0 || head.Size == 0:
		return nil, errors.New("a file beside the session, where none can be")
	}
	return c.world.client.files.Fetch(c.ctx, c.world.besidePath(guestproto.BesideOut(head.Beside)), head.Size), nil
}

// readBeside reads on in a file beside the session.
func (r *fileReader) readBeside(p []byte) (int, error) {
	n, err := r.beside.Read(p[:min(r.left, int64(len(p)))])
	r.left -= int64(n)
	switch {
	case n > 0 || err == nil:
		return n, nil
	case r.ctx.Err() != nil:
		r.broken = r.ctx.Err()
	default:
		r.broken = errAway{fmt.Errorf("fetching a file: %w", err)}
	}
	return 0, r.broken
}
