package guestclient

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// killGrace is how long a killed command may take to be reaped before its fate is left to the world's end. It is long
// because an emulated guest may be starved.
const killGrace = 10 * time.Second

// world is one world of the session.
type world struct {
	client  *Client
	id      string
	command atomic.Int64
	close   func() error
}

// Open makes a world; see sandbox.Sandbox.
func (c *Client) Open(ctx context.Context, spec sandbox.WorldSpec) (sandbox.World, error) {
	w := &world{client: c, id: spec.ID}
	c.mu.Lock()
	if _, taken := c.worlds[spec.ID]; taken {
		c.mu.Unlock()
		return nil, fmt.Errorf("world %q exists", spec.ID)
	}
	c.worlds[spec.ID] = w
	c.mu.Unlock()
	w.close = sync.OnceValue(func() error {
		defer func() {
			c.mu.Lock()
			delete(c.worlds, spec.ID)
			c.mu.Unlock()
		}()
		_, err := c.call(context.Background(), guestproto.Request{Op: guestproto.OpClose, World: w.id}, nil)
		return err
	})
	_, err := c.call(ctx, guestproto.Request{Op: guestproto.OpOpen, World: spec.ID, Open: &guestproto.Open{
		Layers: spec.Layers, Env: spec.Env, ReadOnly: spec.ReadOnly,
	}}, nil)
	if err != nil {
		go w.close() // what the guest may have begun
		return nil, fmt.Errorf("making the world of %s: %w", spec.ID, err)
	}
	return w, nil
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

// Put sends the files as one tar.
func (w *world) Put(ctx context.Context, dir string, files []sandbox.File) error {
	req := guestproto.Request{Op: guestproto.OpPut, World: w.id, Put: &guestproto.Put{Dir: dir}}
	_, err := w.client.call(ctx, req, func(out io.Writer) error {
		tw := tar.NewWriter(out)
		for _, f := range files {
			if err := putOne(tw, f); err != nil {
				return fmt.Errorf("sending %s: %w", f.Path, err)
			}
		}
		return tw.Close()
	})
	return err
}

func putOne(tw *tar.Writer, f sandbox.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	head := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.Mode), Size: f.Size, Format: tar.FormatPAX}
	if err := tw.WriteHeader(head); err != nil {
		return err
	}
	_, err = io.Copy(tw, r)
	return err
}

// Run executes one command; see sandbox.World.
func (w *world) Run(ctx context.Context, cmd sandbox.Command, stdout, stderr io.Writer) (sandbox.Result, error) {
	id := int(w.command.Add(1))
	// The stream outlives ctx: after a kill the ending is still read, so that nothing of the command is left.
	streamCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stream, stop, err := w.client.open(streamCtx, guestproto.Request{Op: guestproto.OpRun, World: w.id, Run: &guestproto.Run{
		ID: id, Argv: cmd.Argv, Env: cmd.Env, Stdin: cmd.Stdin != nil,
	}})
	if err != nil {
		return sandbox.Result{}, err
	}
	defer stream.Close()
	defer stop()
	defer context.AfterFunc(ctx, func() { w.kill(id, cancel) })()

	frames := guestproto.NewFrames(stream)
	if cmd.Stdin != nil {
		go sendStdin(frames, cmd.Stdin)
	}
	res, err := w.receive(frames, stdout, stderr)
	var mine sink
	switch {
	case errors.As(err, &mine):
		w.kill(id, cancel)
		return res, mine.error
	case ctx.Err() != nil && !errors.Is(err, sandbox.ErrLost):
		return res, ctx.Err()
	case err != nil && streamCtx.Err() == nil:
		var refused *refusal
		if errors.As(err, &refused) {
			return res, err
		}
		return res, w.client.failed(streamCtx, err)
	default:
		return res, err
	}
}

// kill ends a command whose caller has given up; when the guest does not manage it in time, the stream is cut.
func (w *world) kill(id int, cut func()) {
	ctx, cancel := context.WithTimeout(context.Background(), killGrace)
	defer cancel()
	_, err := w.client.call(ctx, guestproto.Request{Op: guestproto.OpKill, World: w.id, Command: id}, nil)
	if err != nil {
		cut()
		return
	}
	time.AfterFunc(killGrace, cut)
}

func sendStdin(frames *guestproto.Frames, r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 && frames.Write(guestproto.FrameStdin, buf[:n]) != nil {
			return
		}
		if err != nil {
			_ = frames.Write(guestproto.FrameStdinEOF, nil)
			return
		}
	}
}

// refusal is the guest's word that it did not do what was asked: no failure of the channel.
type refusal struct{ msg string }

func (r *refusal) Error() string { return r.msg }

// sink is an error of the caller's own writer.
type sink struct{ error }

func (s sink) Unwrap() error { return s.error }

func (w *world) receive(frames *guestproto.Frames, stdout, stderr io.Writer) (sandbox.Result, error) {
	for {
		kind, body, err := frames.Read()
		if err != nil {
			return sandbox.Result{}, err
		}
		switch kind {
		case guestproto.FrameStdout:
			_, err = stdout.Write(body)
		case guestproto.FrameStderr:
			_, err = stderr.Write(body)
		case guestproto.FrameExit:
			var exit guestproto.Exit
			if err := json.Unmarshal(body, &exit); err != nil {
				return sandbox.Result{}, err
			}
			return sandbox.Result{ExitCode: exit.Code, Signal: exit.Signal, Reason: exit.Reason, Duration: exit.Duration}, nil
		case guestproto.FrameError:
			return sandbox.Result{}, refusalOf(body)
		default:
			return sandbox.Result{}, fmt.Errorf("frame of kind %d in a command's output", kind)
		}
		if err != nil {
			return sandbox.Result{}, sink{err}
		}
	}
}

func refusalOf(body []byte) error {
	var reply guestproto.Reply
	if err := json.Unmarshal(body, &reply); err != nil {
		return err
	}
	return &refusal{reply.Error}
}

// Collect takes what the step left in /workspace/out; see sandbox.World. The caps are enforced here too, whatever the
// guest does with them.
func (w *world) Collect(ctx context.Context, caps policy.Artifacts, put func(sandbox.Found, io.Reader) error) (sandbox.Collected, error) {
	var got sandbox.Collected
	stream, stop, err := w.client.open(ctx, guestproto.Request{Op: guestproto.OpCollect, World: w.id, Collect: &guestproto.Collect{Caps: caps}})
	if err != nil {
		return got, err
	}
	defer stream.Close()
	defer stop()
	c := collection{frames: guestproto.NewFrames(stream), caps: caps, put: put}
	err = c.receive(&got)
	var refused *refusal
	var mine sink
	switch {
	case err == nil, errors.As(err, &refused):
		return got, err
	case errors.As(err, &mine):
		return got, mine.error
	default:
		return got, w.client.failed(ctx, err)
	}
}
