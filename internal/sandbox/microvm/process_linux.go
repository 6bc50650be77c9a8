package microvm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/guestclient"
	"github.com/joystream-ai/joy/internal/thread"
)

// patience is what a start may take. One that makes progress may take as long as it needs: twenty VMs may share two
// cores. It has failed when QEMU has spent far more CPU time than any start takes, or next to none for a long while.
type patience struct {
	cpu   time.Duration // of QEMU since it was started
	stall time.Duration // without tickStall of CPU time
}

// A boot takes four seconds of CPU time under emulation, a start from a snapshot half of one to its first answer.
var (
	bootPatience    = patience{cpu: 90 * time.Second, stall: time.Minute}
	restorePatience = patience{cpu: 20 * time.Second, stall: time.Minute}
)

const tickStall = 500 * time.Millisecond

// errStall is a VM that does nothing any more and has not answered.
var errStall = errors.New("the VM stands still")

// process is one running QEMU.
type process struct {
	id      string
	pid     int
	kill    func() error // of this process only: never of another that has its pid by now
	begun   uint64
	channel *os.File
	tail    *tail
	exited  chan struct{} // closed when reaped
	status  error
	hold    *hold
}

// launch starts QEMU with files from descriptor 3 on, held as far as this host can (confine_linux.go). The process is
// killed by the kernel when joy dies: the signal is tied to the thread that started it, so a goroutine keeps that thread
// until the process is reaped.
func launch(qemu string, args []string, files []*os.File, channel *os.File, console io.Writer, l limits) (*process, error) {
	h, err := newHold(l, files)
	if err != nil {
		return nil, err
	}
	if qemu, err = filepath.Abs(qemu); err != nil { // its working directory is /
		return nil, err
	}
	if err := thread.ShutOnExec(); err != nil {
		return nil, fmt.Errorf("closing what joy was started with: %w", err)
	}
	p := &process{channel: channel, tail: &tail{also: console}, exited: make(chan struct{}), hold: h}
	command := func(namespaces bool) *exec.Cmd {
		return &exec.Cmd{
			Path: qemu, Args: append([]string{qemu}, args...), ExtraFiles: files, Dir: "/",
			Env:    []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
			Stdout: p.tail, Stderr: p.tail,
			SysProcAttr: h.attributes(namespaces),
			// Whoever holds the output open does not hold up the reaping.
			WaitDelay: time.Second,
		}
	}
	var cmd *exec.Cmd
	started := make(chan error)
	thread.Own(func() {
		h.restrict(qemu, files)
		cmd = command(true)
		err := cmd.Start()
		if refused := err; noNamespaces(err) {
			cmd = command(false)
			if err = cmd.Start(); err == nil {
				h.lacks("namespaces", cmp.Or(errors.Unwrap(refused), refused)) // without the program's path
			}
		}
		started <- err
		if err == nil {
			<-p.exited
		}
	})
	if err := <-started; err != nil {
		if h.uid >= 0 && errors.Is(err, unix.EACCES) {
			return nil, fault.Wrap(fault.Platform, err, "starting QEMU").
				WithHint("joy is root and QEMU is not: every user must be able to execute %s", qemu)
		}
		return nil, fmt.Errorf("starting QEMU: %w", err)
	}
	p.pid, p.kill = cmd.Process.Pid, cmd.Process.Kill
	bounded := make(chan struct{})
	thread.Own(func() { h.bound(p.pid); close(bounded) })
	<-bounded
	h.goFirst(p.pid)
	p.begun, err = startTime(p.pid)
	p.id = fmt.Sprintf("qemu:%d:%d", p.pid, p.begun)
	go func() { // from here on the pid may come to mean another process
		p.status = cmd.Wait()
		close(p.exited)
	}()
	if err != nil {
		return nil, p.explain(errors.Join(fmt.Errorf("starting QEMU: %w", err), p.destroy()))
	}
	return p, nil
}

// awaitReady waits for the guest's ready line as long as the VM makes progress.
func (p *process) awaitReady(ctx context.Context) error {
	return p.while(ctx, bootPatience, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() { _ = p.channel.SetReadDeadline(time.Unix(1, 0)) })()
		if err := guestclient.AwaitReady(p.channel); err != nil {
			return fmt.Errorf("waiting for the guest: %w", err)
		}
		return nil
	})
}

// held makes sure of what holds QEMU: its own filter is on when the guest speaks. What could not be had is an error where
// the plan wants hardware isolation, and on record otherwise.
func (p *process) held(isolation string) error {
	p.hold.verify(p.pid)
	if _, reduced := p.hold.found(); reduced != "" && isolation == "hardware" {
		return fault.New(fault.Platform, "QEMU is not confined as hardware isolation wants: %s", reduced).
			WithHint("see \"What holds QEMU\" in docs/sandbox.md, or set policy.isolation: any in joy.yaml")
	}
	return nil
}

// while runs one part of a start, and ends it when ctx ends, QEMU ends or patience does.
func (p *process) while(ctx context.Context, most patience, part func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	var cpu time.Duration
	moved, exited := time.Now(), p.exited
	for {
		select {
		case err := <-done:
			if err != nil && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		case <-exited:
			exited = nil
			cancel(errors.New("QEMU ended while the VM was starting"))
		case <-tick.C:
			now := cpuTime(p.pid)
			if now-cpu >= tickStall {
				cpu, moved = now, time.Now()
			}
			switch {
			case now > most.cpu:
				cancel(fmt.Errorf("the VM does not start: no answer after %s of CPU time", now.Round(time.Second)))
			case time.Since(moved) > most.stall:
				cancel(fmt.Errorf("%w: nothing for %s, after %s of CPU time", errStall, most.stall, now.Round(100*time.Millisecond)))
			}
		}
	}
}

// fromOutside reports whether QEMU was killed or stopped by somebody else, such as a kernel that is short of memory:
// then it says nothing about what it was started from. It is for before destroy.
func (p *process) fromOutside() bool {
	select {
	case <-p.exited:
		var exit *exec.ExitError
		if !errors.As(p.status, &exit) {
			return false
		}
		status, ok := exit.Sys().(syscall.WaitStatus)
		return ok && status.Signal() == syscall.SIGKILL
	default:
		return stopped(p.pid)
	}
}

// destroy kills the process and waits until it is reaped.
func (p *process) destroy() error {
	_ = p.kill() // it may have ended
	defer p.channel.Close()
	select {
	case <-p.exited:
		return nil
	case <-time.After(30 * time.Second):
		return fault.Wrap(fault.Platform, sandbox.ErrAlive, "process %d does not die", p.pid).WithHint("kill -9 %d", p.pid)
	}
}

// explain adds to err what QEMU or the guest's kernel said last, and that the failure is the platform's.
func (p *process) explain(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if p.ends() && p.status != nil {
		err = fmt.Errorf("%w (QEMU: %w)", err, p.status)
	}
	if said := p.tail.String(); said != "" {
		err = fmt.Errorf("%w; the VM's last words: %s", err, said)
	}
	if !errors.Is(err, sandbox.ErrLost) {
		err = fmt.Errorf("%w: %w", sandbox.ErrLost, err)
	}
	return &fault.Error{Kind: fault.Platform, Msg: "local VM", Err: err}
}

// A process whose channel has closed is given a moment to begin its end, and one that has begun it longer to be reaped: on
// a busy host that may take seconds.
const (
	endMoment = 200 * time.Millisecond
	reapLimit = 10 * time.Second
)

// ends waits until the process is reaped, if it has ended or is about to.
func (p *process) ends() bool {
	for _, limit := range []time.Duration{endMoment, reapLimit} {
		select {
		case <-p.exited:
			return true
		case <-time.After(limit):
		}
		if !exiting(p.pid) {
			break
		}
	}
	return false
}

// exiting reports whether a process is on its way out, or gone (PF_EXITING of proc(5), stat field 9, of linux/sched.h).
func exiting(pid int) bool {
	const pfExiting = 0x4
	fields, err := statFields(pid)
	if err != nil {
		return true
	}
	flags, err := strconv.ParseUint(fields[6], 10, 32)
	return err == nil && flags&pfExiting != 0
}

// tail keeps the last lines of what QEMU and the VM's console print, and hands the first ones on.
type tail struct {
	mu     sync.Mutex
	buf    []byte
	also   io.Writer
	passed int // bytes given to also
}

const (
	tailSize    = 4 << 10
	consoleSize = 256 << 10 // what a VM may print into sandbox.Spec.Console
)

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := min(len(b), consoleSize-t.passed); t.also != nil && n > 0 {
		t.passed += n
		_, _ = t.also.Write(b[:n])
	}
	t.buf = append(t.buf, b[max(0, len(b)-tailSize):]...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

// String is the tail as one line of printable text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(string(t.buf), "?"))
	return strings.Join(strings.Fields(printable), " ")
}

// startTime is when a process started, in clock ticks since boot (proc(5), stat field 22): with the pid it names one
// process for as long as the machine is up.
func startTime(pid int) (uint64, error) {
	fields, err := statFields(pid)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

// cpuTime is what a process has spent on CPUs (fields 14 and 15, in ticks of 10 ms on Linux).
func cpuTime(pid int) time.Duration {
	fields, err := statFields(pid)
	if err != nil {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// statFields is /proc/PID/stat from the third field on; the second, the name, may hold anything. A zombie has ended.
func statFields(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	i := bytes.LastIndexByte(b, ')')
	fields := strings.Fields(string(b[i+1:]))
	if len(fields) < 20 || fields[0] == "Z" {
		return nil, os.ErrProcessDone
	}
	return fields, nil
}

// killPid kills one process, named by pid and start, through a descriptor that cannot come to mean another.
func killPid(pid int, begun uint64) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if now, err := startTime(pid); err != nil || now != begun {
		return nil //nolint:nilerr // it has ended
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 30_000)
	return err
}
