package guestclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

func TestRunOfABadGuest(t *testing.T) {
	exit := func(e guestproto.Exit) script { return frames(guestproto.FrameExit, e) }
	for name, tc := range map[string]struct {
		run  script
		want string
	}{
		"closes":                  {raw(""), "EOF"},
		"closes in a head":        {raw("\x03\x00"), "EOF"},
		"closes in a body":        {raw("\x03\x00\x00\x00\x09abc"), "EOF"},
		"closes after output":     {frames(guestproto.FrameStdout, "text"), "EOF"},
		"a giant frame":           {raw("\x03\xff\xff\xff\xff"), "too large"},
		"a frame of no kind":      {raw("\x00\x00\x00\x00\x00"), "kind 0"},
		"a frame of another kind": {frames(guestproto.FrameFile, "{}"), "kind 7"},
		"input from the guest":    {frames(guestproto.FrameStdin, "x"), "kind 1"},
		"no status":               {frames(guestproto.FrameExit, "{"), "JSON"},
		"a status past 255":       {exit(guestproto.Exit{Code: 256}), "no command has"},
		"a negative status":       {exit(guestproto.Exit{Code: -1}), "no command has"},
		"a negative time":         {exit(guestproto.Exit{Duration: -1}), "no command has"},
		"a reason of its own":     {exit(guestproto.Exit{Reason: "joy said so"}), "no command has"},
		"a signal of its own":     {exit(guestproto.Exit{Signal: "SIG\x1b[2J"}), "no command has"},
		"no word of a refusal":    {frames(guestproto.FrameError, "{"), "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: tc.run})
			_, err := w.Run(long(t), sleep, io.Discard, io.Discard)
			lost(t, c, err, tc.want)
		})
	}
}

func TestRunRefused(t *testing.T) {
	_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: frames(guestproto.FrameError, guestproto.Reply{Error: "no such program"})})
	_, err := w.Run(long(t), sleep, io.Discard, io.Discard)
	require.EqualError(t, err, "no such program")
	require.NoError(t, c.Err())
}

func TestRunGivenUp(t *testing.T) {
	flood := func(_ guestproto.Request, stream net.Conn) {
		f := guestproto.NewFrames(stream)
		for f.Write(guestproto.FrameStdout, make([]byte, 1000)) == nil {
		}
	}
	obeys := func(killed <-chan struct{}) script {
		return func(_ guestproto.Request, stream net.Conn) {
			<-killed
			frames(guestproto.FrameExit, guestproto.Exit{Code: 137, Signal: "SIGKILL"})(guestproto.Request{}, stream)
		}
	}
	// during gives a ctx that ends once the guest has begun what it does.
	during := func(t *testing.T, run script) (context.Context, script) {
		ctx, cancel := context.WithCancel(t.Context())
		return ctx, func(req guestproto.Request, stream net.Conn) { cancel(); run(req, stream) }
	}
	t.Run("the guest kills it", func(t *testing.T) {
		killed := make(chan struct{})
		ctx, run := during(t, obeys(killed))
		f, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: run, guestproto.OpKill: func(req guestproto.Request, s net.Conn) {
			close(killed)
			answer(guestproto.Reply{})(req, s)
		}})
		_, err := w.Run(ctx, sleep, io.Discard, io.Discard)
		require.ErrorIs(t, err, context.Canceled)
		require.EqualValues(t, 1, f.killed.Load())
		require.NoError(t, c.Err())
	})
	for name, run := range map[string]script{"is silent": silent, "floods": flood} {
		t.Run("the guest "+name+" and refuses to kill", func(t *testing.T) {
			_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: run, guestproto.OpKill: answer(guestproto.Reply{Error: "no"})})
			_, err := w.Run(short(t), sleep, io.Discard, io.Discard)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NoError(t, c.Err(), "the other worlds go on")
		})
		t.Run("the guest "+name+" and does not answer", func(t *testing.T) {
			ctx, run := during(t, run)
			_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: run, guestproto.OpKill: silent})
			c.killGrace = 200 * time.Millisecond
			_, err := w.Run(ctx, sleep, io.Discard, io.Discard)
			lost(t, c, err, "has not answered an order to kill")
		})
		t.Run("the guest "+name+" and lies", func(t *testing.T) {
			ctx, run := during(t, run)
			var c *Client
			kill := func(req guestproto.Request, stream net.Conn) {
				c.killGrace = 200 * time.Millisecond // from here on: the answer itself may take its time
				answer(guestproto.Reply{})(req, stream)
			}
			_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: run, guestproto.OpKill: kill})
			_, err := w.Run(ctx, sleep, io.Discard, io.Discard)
			lost(t, c, err, "a killed command has not ended")
		})
	}
	t.Run("the guest takes nothing from the channel", func(t *testing.T) {
		settles(t)
		host, guest := net.Pipe()
		defer guest.Close()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = io.CopyN(io.Discard, guest, 40); cancel() }() // and then no more
		c := attach(host, nil)
		c.stuckWait = 200 * time.Millisecond
		lost(t, c, c.start(ctx, guestproto.Bounds{}), "nothing taken")
	})
}

func TestRunWithFailingEnds(t *testing.T) {
	broken := errors.New("broken")
	killed := make(chan struct{}, 1)
	f, c, w := dialWorld(t, map[guestproto.Op]script{
		guestproto.OpRun: func(req guestproto.Request, stream net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, stream) }()
			frames(guestproto.FrameStdout, "a", guestproto.FrameStdout, strings.Repeat("b", 60_000))(req, stream)
			<-killed
			frames(guestproto.FrameStdout, "c", guestproto.FrameExit, guestproto.Exit{Code: 137})(req, stream)
		},
		guestproto.OpKill: func(req guestproto.Request, stream net.Conn) {
			killed <- struct{}{}
			answer(guestproto.Reply{})(req, stream)
		},
	})
	t.Run("output", func(t *testing.T) {
		_, err := w.Run(long(t), sleep, writer(func([]byte) (int, error) { return 0, broken }), io.Discard)
		require.ErrorIs(t, err, broken)
	})
	t.Run("input", func(t *testing.T) {
		cmd := sleep
		cmd.Stdin = io.MultiReader(strings.NewReader("half"), reader(func([]byte) (int, error) { return 0, broken }))
		_, err := w.Run(long(t), cmd, io.Discard, io.Discard)
		require.ErrorIs(t, err, broken)
	})
	require.EqualValues(t, 2, f.killed.Load())
	require.NoError(t, c.Err())
}

func TestRunHandsOutputOn(t *testing.T) {
	_, _, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: frames(
		guestproto.FrameStdout, "caf\xc3", guestproto.FrameStderr, "\xff", guestproto.FrameStdout, "\xa9",
		guestproto.FrameExit, guestproto.Exit{Code: 137, Signal: "SIGKILL", Reason: "oom", Duration: time.Second})})
	var out, errs bytes.Buffer
	res, err := w.Run(long(t), sleep, &out, &errs)
	require.NoError(t, err)
	require.Equal(t, sandbox.Result{ExitCode: 137, Signal: "SIGKILL", Reason: "oom", Duration: time.Second}, res)
	require.Equal(t, "café", out.String())
	require.Equal(t, "\xff", errs.String())
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

type reader func([]byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }
