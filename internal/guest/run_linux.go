package guest

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

const pipeSize = 64 << 10

// run executes one command and streams it. It returns an error only when the command never started or the world ended
// under it; every other ending is a frame. A command is in a cgroup of its own, so that killing it is killing all that
// it started. stopped is closed when nobody reads the frames any more, and then the command is killed.
func (w *world) run(req guestproto.Run, frames *guestproto.Frames, stopped <-chan struct{}) error {
	w.laid()
	k, err := w.kits.take()
	if err != nil {
		return err
	}
	c, err := w.commands.begin(req.ID, k.cgroup)
	if err != nil {
		w.kits.give(k, false)
		return err
	}
	defer func() { w.kits.give(k, w.commands.end(req.ID, c)) }()
	s := &stream{frames: frames, kill: func() { _ = killCgroup(k.cgroup) }}
	if w.ground.hosted {
		if s.far, err = newFar(); err != nil {
			return err
		}
		defer s.far.over.Close()
	}
	cmd, err := w.fork(req, k)
	if err != nil {
		return err
	}
	go feed(frames, k.in.ours, req.Stdin)
	var pumps sync.WaitGroup
	for i, kind := range []guestproto.Kind{guestproto.FrameStdout, guestproto.FrameStderr} {
		pumps.Go(func() { s.pump(kind, k.out[i].ours) })
	}
	done := make(chan struct{})
	pumps.Go(func() {
		select {
		case <-stopped:
			s.kill()
		case <-done:
		}
	})
	exit, err := cmd.await()
	close(done)
	if w.commands.end(req.ID, c) {
		_ = endCgroup(k.cgroup) // its end is not told before all that it started has ended
	}
	// A child that still holds the pipes does not hold the command: what is in them now is the rest of its output.
	s.end(k.out)
	pumps.Wait()
	if err != nil {
		return err
	}
	if w.over() {
		return errors.New("the world ended under the command")
	}
	if exit.Code != 0 {
		exit.Reason = w.blame()
		return frames.End(guestproto.FrameExit, exit)
	}
	err = frames.End(guestproto.FrameExit, exit)
	w.casualties.look() // what a command survived is not held against the next one
	return err
}

// pipe is one standard stream: our end is polled, theirs blocks as programs expect.
type pipe struct{ ours, theirs *os.File }

func (p pipe) Close() {
	p.ours.Close()
	p.theirs.Close()
}

type pipes [2]pipe

func (ps pipes) Close() {
	for _, p := range ps {
		p.Close()
	}
}

// newPipe makes one. A far one is not polled, but does not block either.
func newPipe(weWrite, far bool) (pipe, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return pipe{}, err
	}
	ours, theirs := fds[0], fds[1]
	if weWrite {
		ours, theirs = theirs, ours
	}
	p := pipe{theirs: os.NewFile(uintptr(theirs), "theirs")}
	if far {
		p.ours = os.NewFile(uintptr(ours), "ours")
	}
	if err := unix.SetNonblock(ours, true); err != nil {
		return pipe{}, err
	}
	if !far {
		p.ours = os.NewFile(uintptr(ours), "ours")
	}
	return p, nil
}

func newStdio(far bool) (in pipe, out pipes, err error) {
	if in, err = newPipe(true, false); err != nil {
		return in, out, err
	}
	for i := range out {
		if out[i], err = newPipe(false, far); err != nil {
			in.Close()
			if i == 1 {
				out[0].Close()
			}
			return in, out, err
		}
	}
	return in, out, nil
}

// fork has the world's forker start the command, with its end of the kit.
func (w *world) fork(req guestproto.Run, k *kit) (forked, error) {
	answer := make(chan forked, 1)
	select {
	case w.keeper.forker.jobs <- func() { answer <- fork(req.Argv, mergeEnv(w.env, req.Env), k) }:
	case <-w.gone:
		return forked{}, errors.New("the world has ended")
	}
	cmd := <-answer
	// The command holds them now: our copies would keep its pipes from ending.
	k.in.theirs.Close()
	k.out[0].theirs.Close()
	k.out[1].theirs.Close()
	return cmd, cmd.err
}

// stream is the host's side of a command: two pumps and the ending write to it.
type stream struct {
	mu     sync.Mutex
	frames *guestproto.Frames
	far    *far   // nil: a piece costs little
	kill   func() // nobody is left to read: the command must not wait for ever
}

func (s *stream) output(kind guestproto.Kind, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.frames.Write(kind, b)
	if err != nil {
		s.kill()
	}
	return err
}

// end has the pumps end with what is in the pipes.
func (s *stream) end(out pipes) {
	if s.far != nil {
		s.far.end()
		return
	}
	for _, p := range out {
		_ = p.ours.SetReadDeadline(time.Unix(1, 0))
	}
}

// pump carries output until its end. When the deadline passes, the command has ended: at most a pipe's worth of its
// output is still there, and what comes after that is somebody else's.
func (s *stream) pump(kind guestproto.Kind, r *os.File) {
	if s.far != nil {
		s.far.pump(s, kind, r)
		return
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 && s.output(kind, buf[:n]) != nil {
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return
		}
	}
	raw, err := r.SyscallConn()
	if err != nil {
		return
	}
	_ = r.SetReadDeadline(time.Time{})
	for rest := pipeSize; rest > 0; {
		n := 0
		_ = raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buf[:min(len(buf), rest)])
			return true
		})
		if n <= 0 || s.output(kind, buf[:n]) != nil {
			return
		}
		rest -= n
	}
}

// feed carries input to the command. Frames are read only as fast as the command reads, so the host is held back.
func feed(frames *guestproto.Frames, w *os.File, open bool) {
	defer w.Close()
	for open {
		kind, body, err := frames.Read()
		if err != nil || kind != guestproto.FrameStdin {
			return
		}
		if _, err := w.Write(body); err != nil {
			return // the command does not want it
		}
	}
}
