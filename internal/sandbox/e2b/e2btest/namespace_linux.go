package e2btest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
// file system is joy's tiny image, unpacked into memory. It has a cgroup of its own where the
// host's root makes it, without controllers, so nothing bounds its memory.
type Namespaces struct{}

// firstID is the host's id of a machine's root, when the host's root makes it: ids that no Debian account has.
const (
	firstID = 1 << 20
	ids     = 1 << 16
)

// endPatience is how long a machine may take to end by itself.
const endPatience = 5 * time.Second

// Start makes a machine; see Runner.
func (Namespaces) Start(context.Context) (Machine, error) {
	program, err := daemon()
	if err != nil {
		return nil, err
	}
	root, err := tinyRoot()
	if err != nil {
		return nil, err
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer theirs.Close()
	files := []*os.File{theirs}
	for _, content := range [][]byte{root, program} {
		f, err := memory(content)
		if err != nil {
			ours.Close()
			return nil, err
		}
		defer f.Close()
		files = append(files, f)
	}
	m := &namespace{control: ours, done: make(chan struct{}), cgroup: newCgroup()}
	m.cmd = command(len(files) + 2)
	m.cmd.ExtraFiles, m.cmd.Stderr, m.cmd.Env = files, &m.said, []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
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

// memory is a file without a name anywhere.
func memory(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("e2btest", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "memory")
	if _, err = f.Write(content); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tinyRoot is the root file system of the tiny image, as a tar file.
var tinyRoot = sync.OnceValues(func() ([]byte, error) {
	cache, err := image.DefaultCacheDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	img, err := image.Latest(cache, "tiny")
	if err != nil {
		return nil, fmt.Errorf("run script/test once, which builds the image: %w", err)
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
	var tar bytes.Buffer
	err = fs.WriteTar(&tar)
	return tar.Bytes(), err
})

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
