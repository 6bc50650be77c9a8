package guestclient

import (
	"archive/tar"
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// world is one world of the session.
type world struct {
	client  *Client
	id      string
	command atomic.Int64
	brought atomic.Int64  // files sent beside the session
	closing chan struct{} // closed when Close is first called
	close   func() error
}

// Open makes a world; see sandbox.Sandbox.
func (c *Client) Open(ctx context.Context, spec sandbox.WorldSpec) (sandbox.World, error) {
	if err := textual(spec.Env); err != nil {
		return nil, fmt.Errorf("making the world of %s: %w", spec.ID, err)
	}
	w := &world{client: c, id: spec.ID, closing: make(chan struct{})}
	c.mu.Lock()
	if _, taken := c.worlds[spec.ID]; taken {
		c.mu.Unlock()
		return nil, fmt.Errorf("making the world of %s: it exists", spec.ID)
	}
	c.worlds[spec.ID] = w
	c.mu.Unlock()
	w.close = sync.OnceValue(w.end)
	_, err := c.call(ctx, guestproto.Request{Op: guestproto.OpOpen, World: spec.ID, Open: &guestproto.Open{
		Layers: spec.Layers, Keep: spec.Keep, Env: spec.Env, ReadOnly: spec.ReadOnly, Alone: spec.Alone,
	}}, nil)
	if err != nil {
		go func() { _ = w.close() }() // what the guest may have begun
		return nil, fmt.Errorf("making the world of %s: %w", spec.ID, err)
	}
	return w, nil
}

// end asks the guest to end the world. Its name can be used again when it is gone.
func (w *world) end() error {
	close(w.closing)
	_, err := w.client.call(context.Background(), guestproto.Request{Op: guestproto.OpClose, World: w.id}, nil)
	w.client.mu.Lock()
	delete(w.client.worlds, w.id)
	w.client.mu.Unlock()
	return err
}

// Close ends the world. When ctx ends first, the guest still goes on ending it.
func (w *world) Close(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- w.close() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Put sends the files as one tar, but for large ones where there is a way beside the session.
func (w *world) Put(ctx context.Context, dir string, files []sandbox.File) error {
	at := w.bringLarge(ctx, files)
	req := guestproto.Request{Op: guestproto.OpPut, World: w.id, Put: &guestproto.Put{Dir: dir}}
	body := func(out io.Writer) error { return writeTar(out, files, at) }
	if req.Put.Beside = w.bringTar(ctx, files, at); req.Put.Beside != 0 {
		body = nil
	}
	_, err := w.client.call(ctx, req, body)
	return err
}

// writeTar writes the files; at has the numbers of those that were brought already.
func writeTar(out io.Writer, files []sandbox.File, at map[int]int) error {
	whole := bufio.NewWriterSize(out, guestproto.MaxChunk)
	tw := tar.NewWriter(whole)
	for i, f := range files {
		var err error
		if at[i] != 0 {
			err = tw.WriteHeader(header(f, at[i]))
		} else {
			err = putOne(tw, f)
		}
		if err != nil {
			return fmt.Errorf("sending %s: %w", f.Path, err)
		}
	}
	if err := tw.Close(); err != nil {
		return err
	}
	return whole.Flush()
}

func putOne(tw *tar.Writer, f sandbox.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := tw.WriteHeader(header(f, 0)); err != nil {
		return err
	}
	if _, err := io.Copy(tw, r); err != nil {
		return err
	}
	return tw.Flush() // it misses bytes here, and not in the next file
}

// textual refuses what JSON would change on its way to the guest.
func textual(env map[string]string, argv ...string) error {
	for i, a := range argv {
		if !utf8.ValidString(a) {
			return fmt.Errorf("argument %d is not UTF-8", i)
		}
	}
	for k, v := range env {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return fmt.Errorf("the variable %q is not UTF-8", k)
		}
	}
	return nil
}
