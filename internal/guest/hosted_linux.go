package guest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// hostedName is argv[0] of the guest in a VM that is somebody else's: the first process of namespaces of its own, so that
// with it everything ends that it started.
const hostedName = "joy-hosted"

// dirDisk is where the VM's disk holds the worlds. A whiteout hides it from them: it lies in what is their image.
const dirDisk = "/.joy"

// host starts the guest and waits for it. When this process is killed, so is the guest. It has one processor at a time: it
// passes bytes on, and waking another thread for each piece costs more than the piece.
func host(words []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := stepAside(); err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: append([]string{hostedName}, words...), Env: []string{"GOMAXPROCS=1"}, Dir: "/",
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
			Setsid:     true, Pdeathsig: unix.SIGKILL,
		},
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running the guest: %w", err)
	}
	return nil
}

// stepAside moves this process, and with it the guest, into a cgroup of their own where the one they are in is a
// container's: one with processes in it can give no controllers to its children (cgroups(7)).
func stepAside() error {
	const own = "/sys/fs/cgroup"
	var st unix.Statfs_t
	if unix.Statfs(own, &st) != nil || st.Type != unix.CGROUP2_SUPER_MAGIC || !exists(own+"/cgroup.type") {
		return nil
	}
	err := os.Mkdir(own+"/joy-guest", 0o755)
	if err == nil || errors.Is(err, unix.EEXIST) {
		err = os.WriteFile(own+"/joy-guest/cgroup.procs", []byte("0"), 0)
	}
	if errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return nil // settle says what cannot be had
	}
	return err
}

// hosted is the guest's main. Where the host comes by carriers it says on stdout when they may.
func hosted(words []string, stdin, stdout *os.File) error {
	h, err := guestproto.ParseHost(words)
	if err != nil {
		return err
	}
	b := &booted{ground: &ground{hosted: true, device: h.Scratch, shared: h.Kernel != "" && h.Kernel == bootID()}}
	if err := settleIn(b.ground); err != nil {
		return err
	}
	if err := b.settleHosted(); err != nil {
		return err
	}
	if !h.Stdio {
		return receive(b, stdout)
	}
	port, err := newStreams(stdin, stdout)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(port, guestproto.Ready); err != nil {
		return err
	}
	b.port = port
	return serve(b)
}

// settleIn makes the guest's own root out of what the VM has: the VM's root is the image, read-only.
func settleIn(g *ground) error {
	unix.Umask(0)
	// Go leaves these two ignored where they were, as by nohup(1), and a step would have them so; with a handler it has not.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT)
	// Whatever was left open for this process is none of a step's.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing what the guest was started with: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts apart: %w", err)
	}
	next, err := stage(g)
	if err != nil {
		return err
	}
	if err := installSelf(next + dirVM); err != nil {
		return err
	}
	if err := unix.Chdir(next); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("entering the guest's root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the VM's root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return g.tryOverlay()
}

// stage builds the new root and says where.
func stage(g *ground) (string, error) {
	next, onDisk := "/tmp", false
	if g.device == "" && os.MkdirAll(dirDisk+dirScratch, 0o700) == nil {
		next, onDisk = dirDisk, true
	}
	scratch, err := unix.Open(next+dirScratch, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil && onDisk {
		return "", err
	}
	defer unix.Close(scratch)
	const quiet = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := (mount{"guest", next, "tmpfs", unix.MS_NODEV | unix.MS_NOSUID, "mode=0755,size=64m"}).make(); err != nil {
		return "", err
	}
	for _, dir := range []string{dirImage, dirScratch, "/dev"} {
		if err := os.MkdirAll(next+dir, 0o755); err != nil {
			return "", err
		}
	}
	if err := unix.Mount("/", next+dirImage, "", unix.MS_BIND, ""); err != nil {
		return "", fmt.Errorf("taking the VM's root as the image: %w", err)
	}
	if err := unix.Mount("", next+dirImage, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NODEV|unix.MS_NOSUID, ""); err != nil {
		return "", fmt.Errorf("taking the VM's root as the image: %w", err)
	}
	if err := bind("/dev", next+"/dev", 0); err != nil {
		return "", err
	}
	switch {
	case g.device != "":
		err = mount{g.device, next + dirScratch, "ext4", unix.MS_NODEV | unix.MS_NOSUID | unix.MS_NOATIME, ""}.make()
	case onDisk:
		g.beside = true
		err = unix.Mount(fmt.Sprintf("/proc/self/fd/%d", scratch), next+dirScratch, "", unix.MS_BIND, "")
	default:
		g.lacks("the VM's disk is read-only, so what steps write is kept in memory")
		err = memoryScratch(next + dirScratch)
	}
	if err != nil {
		return "", err
	}
	for _, m := range []mount{
		{"proc", next + "/proc", "proc", quiet, ""},
		{"sysfs", next + "/sys", "sysfs", quiet | unix.MS_RDONLY, ""},
		{"cgroup2", next + dirCgroup, "cgroup2", quiet, ""},
	} {
		if err := m.make(); err != nil {
			return "", err
		}
	}
	return next, nil
}

func memoryScratch(dir string) error {
	return mount{"scratch", dir, "tmpfs", unix.MS_NODEV | unix.MS_NOSUID, "mode=0755,size=50%"}.make()
}

// installSelf makes the layer that every world finds over the image.
func installSelf(vm string) error {
	path := filepath.Join(vm, "usr/local/bin/joy-guest")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	copied, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, self)
	if err := errors.Join(err, copied.Close()); err != nil {
		return fmt.Errorf("installing joy-guest: %w", err)
	}
	return nil
}

// tryOverlay finds out by mounting whether worlds can write over the image: the kernel may know no overlay, and the disk
// may itself be one, which can hold no upper layer.
func (g *ground) tryOverlay() error {
	if g.device == "" {
		if err := coverImage(); err != nil {
			return g.without(err)
		}
	}
	if g.overlay = overlayWorks() == nil; g.overlay {
		return nil
	}
	if err := memoryScratch(dirScratch); err != nil {
		return err
	}
	if g.overlay = overlayWorks() == nil; g.overlay {
		g.beside = false // they are not on it
		g.lacks("the VM's disk can hold no overlay, so what steps write is kept in memory")
		return nil
	}
	if err := unix.Unmount(dirScratch, unix.MNT_DETACH); err != nil {
		return err
	}
	return g.without(errors.New("its disk can hold none, nor can its memory"))
}

// without notes that worlds have no overlay.
func (g *ground) without(why error) error {
	g.lacks(fmt.Sprintf("there is no overlayfs (%v), so steps find the image read-only and %s of their own", why, privateWords))
	return nil
}

// coverImage lays an overlay over the image that hides the worlds, which lie on the same disk. It is also what a layer on
// that disk needs to be a layer: one may not lie inside another, and the overlay is another file system.
func coverImage() error {
	const hide = "/hide"
	if err := os.MkdirAll(hide, 0o755); err != nil {
		return err
	}
	if err := unix.Mknod(hide+dirDisk, unix.S_IFCHR, 0); err != nil { // a whiteout
		return fmt.Errorf("hiding the worlds from one another: %w", err)
	}
	flags := uintptr(unix.MS_RDONLY | unix.MS_NODEV | unix.MS_NOSUID)
	return mount{"image", dirImage, "overlay", flags, "lowerdir=" + hide + ":" + dirImage}.make()
}

func overlayWorks() error {
	dir := filepath.Join(dirScratch, "probe")
	defer os.RemoveAll(dir)
	for _, name := range []string{"upper", "work", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	root := filepath.Join(dir, "root")
	if err := overlay(root, []string{dirVM, dirImage}, filepath.Join(dir, "upper"), filepath.Join(dir, "work")).make(); err != nil {
		return err
	}
	defer func() { _ = unix.Unmount(root, unix.MNT_DETACH) }()
	return os.WriteFile(filepath.Join(root, "probe"), nil, 0o600)
}

// settleHosted is for a hosted VM what settle is for joy's own: what cannot be had is said.
func (b *booted) settleHosted() (err error) {
	if err := writeNames(); err != nil {
		return err
	}
	failed := b.shared
	for name, value := range sysctls {
		if !b.shared && os.WriteFile("/proc/sys/"+name, []byte(value), 0) != nil {
			failed = true
		}
	}
	if failed {
		b.lacks("some of the kernel's limits cannot be set, user namespaces among them")
	}
	if err := os.MkdirAll(dirSteps, 0o755); err != nil {
		return fmt.Errorf("the VM gives no cgroup, by which steps are ended: %w", err)
	}
	b.limits = os.WriteFile(dirCgroup+"/cgroup.subtree_control", []byte(controllers), 0) == nil &&
		os.WriteFile(dirSteps+"/cgroup.subtree_control", []byte(controllers), 0) == nil
	if !b.limits {
		b.lacks("no cgroup controllers, so memory, processes and CPU of a step are not bounded")
	}
	if b.quota = quotaWorks(); !b.quota {
		b.lacks("no quotas, so a step's share of the disk is not bounded")
	}
	if b.found, err = inspect(); err != nil {
		return err
	}
	inspectHosted(&b.found)
	if !b.limits {
		return err
	}
	b.pids, err = limitWorlds(b.found.Memory)
	return err
}

// renewHosted is renew where the clock and the disk are not the guest's.
func (b *booted) renewHosted(s *guestproto.Start) error {
	if err := b.bound(s.Bounds); err != nil {
		return err
	}
	if err := b.boundDisk(s.Disk); err != nil {
		return err
	}
	if reseed(s.Entropy) != nil {
		b.lacks("joy cannot seed the kernel's randomness")
	}
	b.found.Missing = b.missing
	b.found.Boottime = boottime()
	if b.beside {
		b.found.Beside = dirDisk + filepath.Join(dirScratch, "worlds")
	}
	return writeMachineID()
}

// bound keeps all worlds together to the VM that was asked for, where this one is larger.
func (b *booted) bound(to guestproto.Bounds) error {
	if !b.limits {
		return nil // it is said already
	}
	if to.Memory > 0 && to.Memory < b.found.Memory {
		if _, err := limitWorlds(to.Memory); err != nil {
			return err
		}
	}
	if to.CPUs > 0 && to.CPUs < b.found.CPUs {
		const period = 100_000 // microseconds (cgroup-v2.rst, cpu.max)
		quota := fmt.Sprintf("%d %d", to.CPUs*period, period)
		return os.WriteFile(filepath.Join(dirSteps, "cpu.max"), []byte(quota), 0)
	}
	return nil
}
