package guestclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// killGrace is how long the guest may take to answer an order to kill, and then again to say how the command ended. A
// guest that works gives up by itself after half of that and says so; one that says nothing will not do so later, and its
// VM is lost. It is long because an emulated guest may be starved.
const killGrace = 20 * time.Second

// running is one command in progress.
type running struct {
	world          *world
	id             int
	frames         *guestproto.Frames
	stdout, stderr io.Writer

	once sync.Once
	why  error         // the caller's own reason to give up, once told
	cut  func()        // ends the stream
	over chan struct{} // closed when nothing more is read of it
}

// Run executes one command; see sandbox.World. It returns only when nothing of the command is left, unless the guest says
// that it cannot kill it: the rest is then left to the world's end.
func (w *world) Run(ctx context.Context, cmd sandbox.Command, stdout, stderr io.Writer) (sandbox.Result, error) {
	if err := textual(cmd.Env, cmd.Argv...); err != nil {
		return sandbox.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, err
	}
	// The stream outlives ctx: after a kill the ending is still read, so that nothing of the command is left.
	life, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	r := &running{world: w, id: int(w.command.Add(1)), stdout: stdout, stderr: stderr, cut: cut, over: make(chan struct{})}
	defer close(r.over)
	defer context.AfterFunc(ctx, func() { r.giveUp(ctx.Err()) })()

	stream, done, err := w.client.open(life, guestproto.Request{Op: guestproto.OpRun, World: w.id, Run: &guestproto.Run{
		ID: r.id, Argv: cmd.Argv, Env: cmd.Env, Stdin: cmd.Stdin != nil,
	}}, cmd.Stdin == nil)
	if err != nil {
		return sandbox.Result{}, r.explain(err)
	}
	defer done()
	r.frames = guestproto.NewFrames(stream)
	if cmd.Stdin != nil {
		go r.feed(cmd.Stdin)
	}
	res, err := r.receive(life)
	var refused *refusal
	if err != nil && !errors.As(err, &refused) {
		err = w.client.failed(life, err)
	}
	return res, r.explain(err)
}

// giveUp kills the command for the first reason told.
func (r *running) giveUp(why error) {
	r.once.Do(func() {
		r.why = why
		go r.kill()
	})
}

// explain is the error of the call: the caller's own reason comes before what followed from it, but a lost VM before
// everything.
func (r *running) explain(err error) error {
	r.once.Do(func() {}) // whoever gives up from now on is too late
	if r.why != nil && !errors.Is(err, sandbox.ErrLost) {
		return r.why
	}
	return err
}

// kill ends the command. The stream is cut when the guest says that it cannot; a guest that says nothing, or says that
// nothing of the command is left and does not tell how it ended, is given up.
func (r *running) kill() {
	c := r.world.client
	ctx, cancel := context.WithTimeout(context.Background(), c.killGrace)
	defer cancel()
	var refused *refusal
	switch _, err := c.call(ctx, guestproto.Request{Op: guestproto.OpKill, World: r.world.id, Command: r.id}, nil); {
	case errors.As(err, &refused):
		r.cut()
	case errors.Is(err, context.DeadlineExceeded):
		c.Fail(fmt.Errorf("the guest has not answered an order to kill for %s", c.killGrace))
	case err == nil:
		limit := time.NewTimer(c.killGrace)
		defer limit.Stop()
		select {
		case <-r.over:
		case <-limit.C:
			_ = c.broken(fmt.Errorf("a killed command has not ended for %s", c.killGrace))
		}
	}
}

// feed sends the command's input. A failure to read it ends the command: it must not take half an input for all of it.
func (r *running) feed(stdin io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := stdin.Read(buf)
		if n > 0 && r.frames.Write(guestproto.FrameStdin, buf[:n]) != nil {
			return // the command has ended
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = r.frames.Write(guestproto.FrameStdinEOF, nil)
			return
		case err != nil:
			r.giveUp(fmt.Errorf("reading the command's input: %w", err))
			return
		}
	}
}

// receive hands out the output until the command has ended. What a failed writer does not take is thrown away while
// the command is being killed.
func (r *running) receive(life context.Context) (sandbox.Result, error) {
	failed := false
	for {
		kind, body, err := r.frames.Read()
		if err != nil {
			return sandbox.Result{}, err
		}
		if life.Err() != nil {
			return sandbox.Result{}, life.Err() // a guest may send faster than a deadline is looked at
		}
		out := r.stdout
		switch kind {
		case guestproto.FrameStdout:
		case guestproto.FrameStderr:
			out = r.stderr
		case guestproto.FrameExit:
			return resultOf(body)
		case guestproto.FrameError:
			return sandbox.Result{}, refusalOf(body)
		default:
			return sandbox.Result{}, fmt.Errorf("frame of kind %d in a command's output", kind)
		}
		if failed {
			continue
		}
		if _, err := out.Write(body); err != nil {
			failed = true
			r.giveUp(err)
		}
	}
}

var signalName = regexp.MustCompile(`^(SIG[A-Z0-9+-]{1,12})?$`)

// resultOf reads an Exit. It goes on the record, so it is what a guest may say and nothing else.
func resultOf(body []byte) (sandbox.Result, error) {
	var exit guestproto.Exit
	if err := json.Unmarshal(body, &exit); err != nil {
		return sandbox.Result{}, err
	}
	known := exit.Reason == "" || exit.Reason == "oom" || exit.Reason == "pids" || exit.Reason == "disk"
	if exit.Code < 0 || exit.Code > 255 || exit.Duration < 0 || !known || !signalName.MatchString(exit.Signal) {
		return sandbox.Result{}, errors.New("an exit status that no command has")
	}
	return sandbox.Result{ExitCode: exit.Code, Signal: exit.Signal, Reason: exit.Reason, Duration: exit.Duration}, nil
}

func refusalOf(body []byte) error {
	var reply guestproto.Reply
	if err := json.Unmarshal(body, &reply); err != nil {
		return err
	}
	return &refusal{reply.Error}
}
