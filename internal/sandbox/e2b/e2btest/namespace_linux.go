package e2btest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/image/squashfs"
)

// Namespaces makes machines out of namespaces of every kind, the user's among them: root there is nobody here. Its root
// file system is one of joy's images, unpacked into memory. It has a cgroup of its own where the
// host's root makes it, without controllers, so nothing bounds its memory.
type Namespaces struct {
	Profile string // of the image (tiny); full takes a gigabyte of memory for each machine, and one more for all
	// NoOverlay makes the kernel answer, to who would cover a root with an overlay, that it knows no overlays.
	NoOverlay bool
}

// firstID is the host's id of a machine's root, when the host's root makes it: ids that no Debian account has.
const (
	firstID = 1 << 20
	ids     = 1 << 16
)

// endPatience is how long a machine may take to end by itself: far more than it takes on a busy host.
const endPatience = time.Minute

// prepare unpacks the image, which takes longer than a client waits for a sandbox.
func (n Namespaces) prepare() error {
	root, _, err := rootOf(or(n.Profile, "tiny"))
	if err != nil {
		return err
	}
	return root.Close()
}

// rootRoom is how much more than the image fits into a machine's root, in bytes.
const rootRoom = 512 << 20

// Start makes a machine; see Runner.
func (n Namespaces) Start(context.Context) (Machine, error) {
	program, err := daemon()
	if err != nil {
		return nil, err
	}
	root, size, err := rootOf(or(n.Profile, "tiny"))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	code, err := memory(program)
	if err != nil {
		return nil, err
	}
	defer code.Close()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer theirs.Close()
	files := []*os.File{theirs, root, code}
	m := &namespace{control: ours, done: make(chan struct{}), cgroup: newCgroup()}
	m.cmd = command(len(files) + 2)
	m.cmd.ExtraFiles, m.cmd.Stderr, m.cmd.Env = files, &m.said, []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", fmt.Sprintf("ROOT_SIZE=%d", size+rootRoom)}
	if n.NoOverlay {
		m.cmd.Env = append(m.cmd.Env, "NO_OVERLAY=1")
	}
	if m.cgroup != nil {
		m.cmd.SysProcAttr.UseCgroupFD, m.cmd.SysProcAttr.CgroupFD = true, int(m.cgroup.dir.Fd())
	}
	if err := m.cmd.Start(); err != nil {
		ours.Close()
		m.cgroup.remove()
		return nil, fmt.Errorf("starting a machine: %w", err)
	}
	go func() {
		m.err = m.cmd.Wait()
		m.cgroup.remove()
		close(m.done)
	}()
	return m, nil
}

// command starts the program that is open as descriptor program, as the first process of namespaces of its own. Who is
// not root needs newuidmap(1) for more than one user, which unshare(1) calls.
func command(program int) *exec.Cmd {
	path := fmt.Sprintf("/proc/self/fd/%d", program)
	if os.Geteuid() != 0 {
		return exec.Command("unshare", "--user", "--map-root-user", "--map-auto", "--mount", "--pid", "--net", "--ipc", "--uts", //nolint:noctx // ends with its machine
			"--cgroup", "--fork", "--kill-child", path)
	}
	mapping := []syscall.SysProcIDMap{{ContainerID: 0, HostID: firstID, Size: ids}}
	return &exec.Cmd{
		Path: path, Args: []string{"machine"},
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
				unix.CLONE_NEWUTS,
			UidMappings: mapping, GidMappings: mapping, GidMappingsEnableSetgroups: true, Credential: &syscall.Credential{},
		},
	}
}

// memory is a file without a name anywhere, at its beginning.
func memory(content []byte) (*os.File, error) {
	f, err := fill(func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func fill(write func(*os.File) error) (*os.File, error) {
	fd, err := unix.MemfdCreate("e2btest", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "memory")
	if err := write(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// roots are the root file systems of this program's machines, by profile: tar files in memory, unpacked once.
var roots struct {
	sync.Mutex
	of map[string]*os.File
}

// rootOf opens the root file system of a profile's image. The caller closes it.
func rootOf(profile string) (root *os.File, size int64, err error) {
	roots.Lock()
	defer roots.Unlock()
	held := roots.of[profile]
	if held == nil {
		if held, err = unpack(profile); err != nil {
			return nil, 0, err
		}
		if roots.of == nil {
			roots.of = map[string]*os.File{}
		}
		roots.of[profile] = held
	}
	info, err := held.Stat()
	if err != nil {
		return nil, 0, err
	}
	root, err = os.Open(fmt.Sprintf("/proc/self/fd/%d", held.Fd())) // with a place to read from of its own
	return root, info.Size(), err
}

func unpack(profile string) (*os.File, error) {
	cache, err := image.DefaultCacheDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	img, err := image.Latest(cache, profile)
	if err != nil {
		return nil, fmt.Errorf("run script/test once, which builds the images: %w", err)
	}
	f, err := os.Open(img.Root())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	fs, err := squashfs.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	return fill(func(into *os.File) error {
		w := bufio.NewWriterSize(into, 1<<20)
		return errors.Join(fs.WriteTar(w), w.Flush())
	})
}

// namespace is a machine made of namespaces: a process tree that ends with its first process.
type namespace struct {
	cmd    *exec.Cmd
	cgroup *cgroup      // nil: none
	said   bytes.Buffer // to be read when done
	err    error        // likewise
	done   chan struct{}

	mu      sync.Mutex
	control *os.File // nil when closed
}

// Dial hands the daemon one end of a socket pair; nothing on the host has an address for it.
func (m *namespace) Dial(context.Context) (net.Conn, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours := os.NewFile(uintptr(fds[0]), "connection")
	defer ours.Close()
	defer unix.Close(fds[1])
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.control == nil {
		return nil, net.ErrClosed
	}
	if err := unix.Sendmsg(int(m.control.Fd()), []byte{0}, unix.UnixRights(fds[1]), nil, unix.MSG_NOSIGNAL); err != nil {
		return nil, fmt.Errorf("reaching the machine: %w", err)
	}
	return net.FileConn(ours)
}

func (m *namespace) Done() <-chan struct{} { return m.done }

// Close ends the daemon by closing its channel. When its first process has been reaped, the kernel has killed and reaped
// the rest (pid_namespaces(7)).
func (m *namespace) Close() error {
	m.mu.Lock()
	if m.control != nil {
		m.control.Close()
		m.control = nil
	}
	m.mu.Unlock()
	select {
	case <-m.done:
	case <-time.After(endPatience):
		_ = m.cmd.Process.Kill()
		<-m.done
		return errors.New("a machine had to be killed: " + strings.TrimSpace(m.said.String()))
	}
	return nil
}
