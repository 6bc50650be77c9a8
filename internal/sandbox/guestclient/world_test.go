package guestclient

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

func fileOf(content string) sandbox.File {
	return sandbox.File{Path: "f", Mode: 0o644, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func TestPutToABadGuest(t *testing.T) {
	large := fileOf(strings.Repeat("x", 2<<20)) // more than a window: the guest must read to let it pass
	t.Run("it refuses at once", func(t *testing.T) {
		_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpPut: answer(guestproto.Reply{Error: "no room"})})
		require.EqualError(t, w.Put(long(t), "in", []sandbox.File{large}), "no room")
		require.NoError(t, c.Err())
	})
	t.Run("it has it all without having read it", func(t *testing.T) {
		_, _, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpPut: answer(guestproto.Reply{})})
		require.Error(t, w.Put(short(t), "in", []sandbox.File{large}))
	})
	t.Run("it closes", func(t *testing.T) {
		_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpPut: raw("")})
		lost(t, c, w.Put(long(t), "in", []sandbox.File{large}), "EOF")
	})
	t.Run("it is silent", func(t *testing.T) {
		_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpPut: silent})
		require.ErrorIs(t, w.Put(short(t), "in", []sandbox.File{large}), context.DeadlineExceeded)
		require.NoError(t, c.Err())
	})
	t.Run("it reads nothing", func(t *testing.T) {
		hold := make(chan struct{})
		defer close(hold)
		_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpPut: func(guestproto.Request, net.Conn) { <-hold }})
		require.ErrorIs(t, w.Put(short(t), "in", []sandbox.File{large}), context.DeadlineExceeded)
		require.NoError(t, c.Err())
	})
}

func TestWorldNames(t *testing.T) {
	ended := make(chan struct{})
	_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpClose: func(req guestproto.Request, stream net.Conn) {
		<-ended
		answer(guestproto.Reply{})(req, stream)
	}})
	_, err := c.Open(t.Context(), sandbox.WorldSpec{ID: "step"})
	require.ErrorContains(t, err, "exists")
	require.ErrorIs(t, w.Close(short(t)), context.DeadlineExceeded)
	_, err = c.Open(t.Context(), sandbox.WorldSpec{ID: "step"})
	require.ErrorContains(t, err, "exists", "it is still being closed")
	close(ended)
	require.NoError(t, w.Close(long(t)))
	again, err := c.Open(t.Context(), sandbox.WorldSpec{ID: "step"})
	require.NoError(t, err)
	require.NoError(t, again.Close(long(t)))
}

func TestWorldThatIsNotMade(t *testing.T) {
	closed := make(chan string, 1)
	_, c := dial(t, map[guestproto.Op]script{
		guestproto.OpOpen: answer(guestproto.Reply{Error: "no room"}),
		guestproto.OpClose: func(req guestproto.Request, stream net.Conn) {
			closed <- req.World
			answer(guestproto.Reply{})(req, stream)
		},
	}, nil)
	_, err := c.Open(t.Context(), sandbox.WorldSpec{ID: "step"})
	require.ErrorContains(t, err, "no room")
	require.ErrorContains(t, err, "step")
	require.Equal(t, "step", <-closed, "what the guest may have begun is ended")
}

func TestCallGivenUp(t *testing.T) {
	_, c := dial(t, map[guestproto.Op]script{guestproto.OpOpen: silent, guestproto.OpPing: silent}, nil)
	_, err := c.Open(short(t), sandbox.WorldSpec{ID: "step"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = c.Ping(short(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, c.Err())
}

func TestDoors(t *testing.T) {
	knock := func(f *fake, req any) net.Conn {
		first, err := guestproto.EncodeMessage(req)
		require.NoError(t, err)
		stream, err := f.session.Open(first, false)
		require.NoError(t, err)
		require.NoError(t, stream.SetReadDeadline(time.Now().Add(soon)))
		return stream
	}
	closed := func(stream net.Conn) {
		_, err := stream.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		stream.Close()
	}
	opened := make(chan string, 1000)
	f, c := dial(t, nil, func(world string, conn net.Conn) {
		opened <- world
		_, _ = io.Copy(conn, conn)
		conn.Close()
	})
	a, err := c.Open(t.Context(), sandbox.WorldSpec{ID: "a"})
	require.NoError(t, err)

	for name, req := range map[string]any{
		"unknown world": guestproto.Request{Op: guestproto.OpDoor, World: "b"},
		"no world":      guestproto.Request{Op: guestproto.OpDoor},
		"not a door":    guestproto.Request{Op: guestproto.OpRun, World: "a"},
		"no request":    []string{"door"},
	} {
		t.Run(name, func(*testing.T) { closed(knock(f, req)) })
	}
	require.Empty(t, opened)

	door := guestproto.Request{Op: guestproto.OpDoor, World: "a"}
	conn := knock(f, door)
	_, err = conn.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(conn, make([]byte, 1))
	require.NoError(t, err)
	require.Equal(t, "a", <-opened)

	require.NoError(t, a.Close(t.Context()))
	closed(conn)
	closed(knock(f, door))
	require.Empty(t, opened)
	require.NoError(t, c.Err())
}
