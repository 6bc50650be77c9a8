package guest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// agent serves the host's requests. It is the only process of the guest that knows the host.
type agent struct {
	session *yamux.Session
	limits  guestproto.Start

	mu     sync.Mutex
	worlds map[string]*world // nil: being made
}

// serve runs the session until the host's end is closed.
func serve(port io.ReadWriteCloser) error {
	session, err := yamux.Server(port, guestproto.Session())
	if err != nil {
		return err
	}
	a := &agent{session: session, worlds: map[string]*world{}}
	for {
		stream, err := session.AcceptStream()
		if err != nil {
			return err
		}
		go a.handle(stream)
	}
}

func (a *agent) handle(stream net.Conn) {
	defer stream.Close()
	var req guestproto.Request
	if err := guestproto.ReadMessage(stream, &req); err != nil {
		return
	}
	var reply guestproto.Reply
	switch {
	case req.Op == guestproto.OpStart && req.Start != nil:
		boot, err := start(*req.Start)
		a.limits, reply = *req.Start, replyOf(err)
		reply.Boot = boot
	case req.Op == guestproto.OpOpen && req.Open != nil:
		reply = replyOf(a.open(req.World, *req.Open))
	case req.Op == guestproto.OpPut && req.Put != nil:
		reply = replyOf(a.withWorld(req.World, func(w *world) error { return w.put(req.Put.Dir, stream) }))
	case req.Op == guestproto.OpRun && req.Run != nil:
		frames := guestproto.NewFrames(stream)
		if err := a.withWorld(req.World, func(w *world) error { return w.run(*req.Run, frames) }); err != nil {
			_ = frames.WriteJSON(guestproto.FrameError, replyOf(err))
		}
		return
	case req.Op == guestproto.OpCollect && req.Collect != nil:
		frames := guestproto.NewFrames(stream)
		if err := a.withWorld(req.World, func(w *world) error { return w.collect(req.Collect.Caps, frames) }); err != nil {
			_ = frames.WriteJSON(guestproto.FrameError, replyOf(err))
		}
		return
	case req.Op == guestproto.OpKill:
		reply = replyOf(a.withWorld(req.World, func(w *world) error { return w.kill(req.Command) }))
	case req.Op == guestproto.OpClose:
		reply = replyOf(a.close(req.World))
	case req.Op == guestproto.OpPing:
		reply = ping(req.Ping)
	default:
		reply = replyOf(fmt.Errorf("unknown request %q", req.Op))
	}
	_ = guestproto.WriteMessage(stream, reply)
}

func replyOf(err error) guestproto.Reply {
	if err != nil {
		return guestproto.Reply{Error: err.Error()}
	}
	return guestproto.Reply{}
}

// ping measures what a command costs when the guest itself forks and waits for it: the floor for every other way.
func ping(p *guestproto.Ping) guestproto.Reply {
	if p == nil || len(p.Argv) == 0 {
		return guestproto.Reply{}
	}
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...) //nolint:noctx,gosec // a measurement asked for by the host
	begin := time.Now()
	err := cmd.Run()
	reply := replyOf(err)
	reply.Took = time.Since(begin)
	return reply
}

func (a *agent) open(id string, spec guestproto.Open) error {
	a.mu.Lock()
	if _, taken := a.worlds[id]; taken {
		a.mu.Unlock()
		return fmt.Errorf("world %q exists", id)
	}
	a.worlds[id] = nil
	a.mu.Unlock()

	w, err := newWorld(id, spec, a.limits)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		delete(a.worlds, id)
		return err
	}
	a.worlds[id] = w
	go a.serveDoor(w)
	return nil
}

func (a *agent) withWorld(id string, do func(*world) error) error {
	a.mu.Lock()
	w := a.worlds[id]
	a.mu.Unlock()
	if w == nil {
		return fmt.Errorf("no world %q", id)
	}
	return do(w)
}

func (a *agent) close(id string) error {
	a.mu.Lock()
	w := a.worlds[id]
	if w != nil {
		delete(a.worlds, id)
	}
	a.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.close()
}

// serveDoor relays each connection made to the world's door to the host, as a stream that names the world. The world
// is known by the listener, never by what the connection says.
func (a *agent) serveDoor(w *world) {
	for {
		conn, err := w.door.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // out of descriptors: the workload's doing, and it passes
			continue
		}
		go a.relay(w.id, conn)
	}
}

func (a *agent) relay(world string, conn net.Conn) {
	defer conn.Close()
	stream, err := a.session.OpenStream()
	if err != nil {
		return
	}
	defer stream.Close()
	if err := guestproto.WriteMessage(stream, guestproto.Request{Op: guestproto.OpDoor, World: world}); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(stream, conn)
		_ = stream.Close() // a half close: the answer may still come
	}()
	_, _ = io.Copy(conn, stream)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	<-done
}

// shutErr keeps the first error of several closings.
func shutErr(errs ...error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
