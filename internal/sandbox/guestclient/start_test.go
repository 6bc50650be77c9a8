package guestclient

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

func TestAwaitReady(t *testing.T) {
	rest := strings.NewReader(guestproto.Ready + "the session")
	require.NoError(t, AwaitReady(rest))
	left, err := io.ReadAll(rest)
	require.NoError(t, err)
	require.Equal(t, "the session", string(left), "not a byte too many")
	require.NoError(t, AwaitReady(iotest.OneByteReader(strings.NewReader(guestproto.Ready))))

	for name, tc := range map[string]struct{ in, want string }{
		"nothing":         {"", "EOF"},
		"half":            {"joy-guest", "EOF"},
		"another version": {"joy-guest 1\n", "another protocol"},
		"garbage":         {"\x00\x00\x00", "another protocol"},
		"a kernel panic":  {"[    1.0] Kernel panic", "another protocol"},
		"a flood":         {strings.Repeat("j", 1<<20), "another protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, AwaitReady(strings.NewReader(tc.in)), tc.want)
		})
	}
}

func TestStartOfABadGuest(t *testing.T) {
	for name, tc := range map[string]struct {
		start script
		want  string
	}{
		"says nothing and closes":  {raw(""), "broke the protocol"},
		"half a length":            {raw("\x00\x00"), "broke the protocol"},
		"half a message":           {raw("\x00\x00\x00\x09{"), "broke the protocol"},
		"a giant message":          {raw("\xff\xff\xff\xff"), "too large"},
		"no JSON":                  {raw("\x00\x00\x00\x02{]"), "invalid character"},
		"no word of what it found": {answer(guestproto.Reply{}), "did not say"},
		"refuses":                  {answer(guestproto.Reply{Error: "no disk"}), "no disk"},
	} {
		t.Run(name, func(t *testing.T) {
			_, host := newFake(t, map[guestproto.Op]script{guestproto.OpStart: tc.start})
			_, err := New(long(t), host, nil)
			require.ErrorContains(t, err, tc.want)
			_, err = host.Write([]byte("x"))
			require.Error(t, err, "the channel is closed")
		})
	}
}

func TestStartOfAGuestThatSpeaksSomethingElse(t *testing.T) {
	for name, said := range map[string]string{
		"text":          "Welcome to Debian GNU/Linux 12!\n",
		"zeros":         strings.Repeat("\x00", 100),
		"half a header": "\x00\x00\x00",
		"a ping":        "\x00\x02\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01",
		"a go-away":     "\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"a giant frame": "\x00\x00\x00\x01\x00\x00\x00\x02\xff\xff\xff\xff",
	} {
		t.Run(name, func(t *testing.T) {
			settles(t)
			host, guest := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, guest) }()
			go func() {
				_, _ = io.WriteString(guest, said)
				guest.Close()
			}()
			_, err := New(long(t), host, nil)
			require.ErrorIs(t, err, sandbox.ErrLost)
		})
	}
}

func TestStartGivenUp(t *testing.T) {
	t.Run("while the guest is silent", func(t *testing.T) {
		_, host := newFake(t, map[guestproto.Op]script{guestproto.OpStart: silent})
		_, err := New(short(t), host, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = host.Write([]byte("x"))
		require.Error(t, err, "the channel is closed")
	})
	t.Run("before it begins", func(t *testing.T) {
		_, host := newFake(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := New(ctx, host, nil)
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestClose(t *testing.T) {
	_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: silent})
	ended := make(chan error, 1)
	go func() {
		_, err := w.Run(context.Background(), sleep, io.Discard, io.Discard)
		ended <- err
	}()
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	require.ErrorIs(t, <-ended, sandbox.ErrLost)
	require.NoError(t, c.Err())
	select {
	case <-c.Lost():
		require.Fail(t, "lost, although it was closed")
	default:
	}
	require.ErrorIs(t, w.Close(t.Context()), sandbox.ErrLost)
	_, err := c.Ping(t.Context())
	require.ErrorIs(t, err, sandbox.ErrLost)
}

func TestChannelThatBreaks(t *testing.T) {
	f, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: silent, guestproto.OpCollect: silent, guestproto.OpPut: silent})
	calls := []func() error{
		func() error { _, err := w.Run(context.Background(), sleep, io.Discard, io.Discard); return err },
		func() error { _, err := w.Collect(context.Background(), caps, nil); return err },
		func() error { return w.Put(context.Background(), "in", []sandbox.File{fileOf("x")}) },
	}
	ended := make(chan error, len(calls))
	for _, call := range calls {
		go func() { ended <- call() }()
	}
	require.NoError(t, f.conn.Close())
	for range calls {
		require.ErrorIs(t, <-ended, sandbox.ErrLost)
	}
	<-c.Lost()
	require.ErrorContains(t, c.Err(), "the channel closed")
	require.NotErrorIs(t, c.Err(), errClosed)
}
