package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// keeperName is argv[0] of a world's keeper, keeperFD its end of the channel.
const (
	keeperName = "joy-keeper"
	keeperFD   = 3
)

// job asks a keeper for a command. Its standard streams and its cgroup travel with it as four descriptors.
type job struct {
	ID   int               `json:"id"`
	Argv []string          `json:"argv"`
	Env  map[string]string `json:"env"`
}

// ending answers a job.
type ending struct {
	ID    int             `json:"id"`
	Exit  guestproto.Exit `json:"exit"`
	Error string          `json:"error,omitempty"` // it never started
}

// keeper is PID 1 of a world: it sets the world up, starts the commands and reaps what they leave.
type keeper struct {
	channel *channel
	env     map[string]string

	// mu is held from fork to the entry in running, so that a command which ends at once is not taken for an orphan.
	mu      sync.Mutex
	running map[int]started // by pid
	wake    chan struct{}
}

type started struct {
	id    int
	begin time.Time
}

// keep is the main of a world's keeper. It returns when the guest closes their socket, which ends the world.
func keep() error {
	runtime.LockOSThread() // the thread that restrict acts on is the one that forks
	if err := deafen(); err != nil {
		return err
	}
	ch := &channel{blocking: keeperFD}
	unix.CloseOnExec(keeperFD) // a command that had it could speak for its keeper
	rehearse()
	door, early := furnish()
	body, _, err := ch.receive(0)
	if err != nil {
		return err
	}
	var cfg keeperConfig
	if err := json.Unmarshal(body, &cfg); err != nil {
		return err
	}
	err = early
	if err == nil {
		err = enter(cfg)
	}
	reply, _ := json.Marshal(replyOf(err))
	if err != nil {
		return errors.Join(err, ch.send(reply))
	}
	if err := ch.send(reply, door); err != nil {
		return err
	}
	door.Close()
	k := &keeper{channel: ch, env: cfg.Env, running: map[int]started{}, wake: make(chan struct{}, 1)}
	go k.reap()
	for {
		if err := k.next(); err != nil {
			return err
		}
	}
}

// furnish does in the fresh namespaces what is the same in every world; a keeper may do it long before its world is
// asked for, and be in a snapshot meanwhile. It returns the door's listening socket, which lives in this network
// namespace. Mounts made later in the guest's own root arrive here, such as the scratch disk; nothing goes back.
func furnish() (*os.File, error) {
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return nil, fmt.Errorf("keeping mounts to this world: %w", err)
	}
	if err := unix.Sethostname([]byte(Hostname)); err != nil {
		return nil, err
	}
	if err := loopbackUp(); err != nil {
		return nil, fmt.Errorf("bringing up lo: %w", err)
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: guestproto.DoorPort})
	if err != nil {
		return nil, fmt.Errorf("opening the door: %w", err)
	}
	defer listener.Close()
	return listener.File()
}

// enter turns the namespaces into the world of product.md and gives up every right that a step must not have.
func enter(cfg keeperConfig) error {
	root := filepath.Join(cfg.Dir, "root")
	overlay := mount{"world", root, "overlay", unix.MS_NODEV | unix.MS_NOSUID, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s",
		strings.Join(cfg.Lower, ":"), filepath.Join(cfg.Dir, "upper"), filepath.Join(cfg.Dir, "work"))}
	for _, step := range []func() error{
		overlay.make,
		func() error { return buildRoot(root, cfg.Workspace, cfg.ReadOnly) },
		func() error { return enterRoot(root) },
		restrict,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// next starts one job.
func (k *keeper) next() error {
	body, files, err := k.channel.receive(4)
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal(body, &j); err != nil {
		return err
	}
	if len(files) != 4 {
		return errors.New("a job without its four descriptors")
	}
	if err := k.start(j, files); err != nil {
		return k.answer(ending{ID: j.ID, Error: err.Error()})
	}
	return nil
}

func (k *keeper) start(j job, files []*os.File) error {
	env := mergeEnv(k.env, j.Env)
	path, err := lookPath(j.Argv, env["PATH"])
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	begin := time.Now()
	pid, err := syscall.ForkExec(path, j.Argv, &syscall.ProcAttr{
		Dir: "/workspace", Env: flatten(env),
		Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: int(files[3].Fd())},
	})
	if err != nil {
		return startError(path, err)
	}
	k.running[pid] = started{j.ID, begin}
	select {
	case k.wake <- struct{}{}:
	default:
	}
	return nil
}

// startError tells a missing program from a script whose interpreter is missing: the kernel has one word for both.
func startError(path string, err error) error {
	if errors.Is(err, unix.ENOENT) && exists(path) {
		return fmt.Errorf("exec %s: its interpreter is not there", path)
	}
	return &os.PathError{Op: "exec", Path: path, Err: err}
}

// reap waits for commands and for the orphans that end up with PID 1.
func (k *keeper) reap() {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.ECHILD) {
			<-k.wake
			continue
		}
		if err != nil {
			continue // interrupted
		}
		k.mu.Lock()
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		now := time.Now()
		s, ours := k.running[pid]
		delete(k.running, pid)
		k.mu.Unlock()
		if err == nil && ours {
			_ = k.answer(ending{ID: s.id, Exit: exitOf(status, now.Sub(s.begin))})
		}
	}
}

func exitOf(status unix.WaitStatus, took time.Duration) guestproto.Exit {
	if status.Signaled() {
		return guestproto.Exit{Code: 128 + int(status.Signal()), Signal: unix.SignalName(status.Signal()), Duration: took}
	}
	return guestproto.Exit{Code: status.ExitStatus(), Duration: took}
}

func (k *keeper) answer(e ending) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return k.channel.send(body)
}

func mergeEnv(base, over map[string]string) map[string]string {
	env := make(map[string]string, len(base)+len(over))
	for _, m := range []map[string]string{base, over} {
		for k, v := range m {
			env[k] = v
		}
	}
	return env
}

func flatten(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	return out
}

// lookPath finds argv[0] on the command's own PATH, not the keeper's.
func lookPath(argv []string, path string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", errors.New("an empty command")
	}
	if strings.Contains(argv[0], "/") {
		return argv[0], nil
	}
	for dir := range strings.SplitSeq(path, ":") {
		candidate := filepath.Join(dir, argv[0])
		if info, err := os.Stat(candidate); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", &exec.Error{Name: argv[0], Err: exec.ErrNotFound}
}
