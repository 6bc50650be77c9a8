package guest

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// agent serves the host's requests. It is the only process of the guest that knows the host.
type agent struct {
	*booted
	session *guestproto.Session
	doors   chan struct{} // a place for each connection carried

	mu     sync.Mutex
	worlds map[string]*place
	spare  chan *keeperProcess // the first world's keeper, forked while the host prepares it; then closed
}

// place is a world, or one in the making: made is closed when world is set, or never will be.
type place struct {
	made  chan struct{}
	world *world
}

// serve runs the session until the host's end is closed.
func serve(b *booted) error {
	// A command that was forked and has not begun its program yet shares this process's memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	if err := setAction(unix.SIGCHLD, actionDefault); err != nil {
		return err
	}
	a := &agent{booted: b, doors: make(chan struct{}, guestproto.MaxDoors), worlds: map[string]*place{}}
	a.session = guestproto.NewSession(b.port, false, func(st *guestproto.Stream) { go a.handle(st) })
	ended := make(chan error, 1)
	go func() { ended <- a.session.Serve() }() // waking the main goroutine would wake its thread
	return <-ended
}

func (a *agent) handle(stream *guestproto.Stream) {
	defer stream.Close()
	var req guestproto.Request
	if err := guestproto.ReadMessage(stream, &req); err != nil {
		return
	}
	var reply guestproto.Reply
	switch {
	case req.Op == guestproto.OpStart && req.Start != nil:
		reply = a.start(*req.Start)
	case req.Op == guestproto.OpOpen && req.Open != nil:
		reply = replyOf(a.open(req.World, *req.Open))
	case req.Op == guestproto.OpPut && req.Put != nil:
		reply = replyOf(a.withWorld(req.World, func(w *world) error {
			if req.Put.Beside != 0 {
				return w.putBeside(req.Put.Dir, req.Put.Beside)
			}
			return w.put(req.Put.Dir, stream)
		}))
	case req.Op == guestproto.OpRun && req.Run != nil:
		frames := guestproto.NewFrames(stream)
		if err := a.withWorld(req.World, func(w *world) error { return w.run(*req.Run, frames, stream.Stopped()) }); err != nil {
			_ = frames.End(guestproto.FrameError, replyOf(err))
		}
		return
	case req.Op == guestproto.OpCollect && req.Collect != nil:
		frames := guestproto.NewFrames(stream)
		if err := a.withWorld(req.World, func(w *world) error { return w.collect(*req.Collect, frames, stream) }); err != nil {
			_ = frames.End(guestproto.FrameError, replyOf(err))
		}
		return
	case req.Op == guestproto.OpKill:
		reply = replyOf(a.withWorld(req.World, func(w *world) error { return w.commands.kill(req.Command) }))
	case req.Op == guestproto.OpClose:
		reply = replyOf(a.close(req.World))
	case req.Op == guestproto.OpPing:
		reply = ping(req.Ping, stream)
	default:
		reply = replyOf(fmt.Errorf("unknown request %q", req.Op))
	}
	_ = guestproto.EndWithMessage(stream, reply)
}

func replyOf(err error) guestproto.Reply {
	if err != nil {
		return guestproto.Reply{Error: err.Error()}
	}
	return guestproto.Reply{}
}

func (a *agent) start(s guestproto.Start) guestproto.Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.renew(&s)
	if err == nil && a.spare == nil {
		a.spare = make(chan *keeperProcess)
		go func() {
			defer close(a.spare)
			k, err := firstKeeper.Load(), error(nil)
			if k == nil {
				k, err = startKeeper()
			}
			if err == nil {
				a.spare <- k
			}
		}()
	}
	reply := replyOf(err)
	reply.Boot = &a.found
	return reply
}

// keeper is the spare one, for the first world, or else a new one.
func (a *agent) keeper() (*keeperProcess, error) {
	a.mu.Lock()
	spare := a.spare
	a.mu.Unlock()
	if spare != nil {
		if k, ok := <-spare; ok {
			return k, nil
		}
	}
	return startKeeper()
}

func (a *agent) open(id string, spec guestproto.Open) error {
	p := &place{made: make(chan struct{})}
	defer close(p.made)
	a.mu.Lock()
	_, taken := a.worlds[id]
	if !taken {
		a.worlds[id] = p
	}
	a.mu.Unlock()
	if taken {
		return fmt.Errorf("world %q exists", id)
	}
	w, err := newWorld(id, spec, a.ground, a.keeper)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		delete(a.worlds, id)
		return err
	}
	p.world = w
	go a.serveDoor(w)
	return nil
}

func (a *agent) withWorld(id string, do func(*world) error) error {
	a.mu.Lock()
	p := a.worlds[id]
	a.mu.Unlock()
	if p != nil {
		<-p.made
	}
	if p == nil || p.world == nil {
		return fmt.Errorf("no world %q", id)
	}
	return do(p.world)
}

// close ends a world, also one that is still being made: its caller may have given up. The id is free afterwards.
func (a *agent) close(id string) error {
	a.mu.Lock()
	p := a.worlds[id]
	a.mu.Unlock()
	if p == nil {
		return nil
	}
	<-p.made
	if p.world == nil {
		return nil
	}
	err := p.world.close()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.worlds[id] == p {
		delete(a.worlds, id)
	}
	return err
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
