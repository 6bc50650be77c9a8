package microvm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
)

// machine is a VM to be: files, sizes, accelerator.
type machine struct {
	qemu, kernel, initrd, root string
	scratchDir, cacheDir       string
	cpus                       int
	memory, disk               int64
	accel                      string
	console                    io.Writer
}

// Descriptors that QEMU inherits, in the order of exec.Cmd.ExtraFiles. Files are handed over open: QEMU needs no path,
// and what joy opened is what the VM gets.
const (
	fdChannel = 3 + iota
	fdKernel
	fdInitrd
	fdRoot
	fdScratch
)

// commandLine is the kernel's. Boot messages below errors stay away from the serial port, which is slow under
// emulation; a panic is printed and ends the VM.
const commandLine = "console=ttyS0 quiet loglevel=3 panic=-1 random.trust_cpu=on rdinit=" + image.InitPath

// args is QEMU's command line. q35 under emulation: the plain microvm machine hangs when the host is busy
// (docs/adr/0004-machine-type.md).
func (m *machine) args() []string {
	return []string{
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-name", "joy",
		"-machine", "q35,usb=off,vmport=off,smbus=off,sata=off,graphics=off",
		"-accel", m.accel, "-cpu", m.cpu(),
		"-smp", strconv.Itoa(m.cpus), "-m", strconv.FormatInt(m.memory>>20, 10) + "M",
		"-kernel", fdPath(fdKernel), "-initrd", fdPath(fdInitrd), "-append", commandLine,
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-device", "virtio-serial-pci,disable-legacy=on,max_ports=2",
		"-chardev", "socket,id=joy,fd=" + strconv.Itoa(fdChannel),
		"-device", "virtserialport,chardev=joy,name=joy",
		"-add-fd", fmt.Sprintf("fd=%d,set=1", fdRoot),
		"-blockdev", "driver=raw,node-name=root,read-only=on,file.driver=file,file.filename=/dev/fdset/1,file.locking=off",
		"-device", "virtio-blk-pci,disable-legacy=on,drive=root,serial=root",
		"-add-fd", fmt.Sprintf("fd=%d,set=2", fdScratch),
		"-blockdev", "driver=raw,node-name=scratch,discard=unmap,cache.no-flush=on,file.driver=file,file.filename=/dev/fdset/2,file.locking=off,file.discard=unmap",
		"-device", "virtio-blk-pci,disable-legacy=on,drive=scratch,serial=scratch",
		"-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
	}
}

func (m *machine) cpu() string {
	if m.accel == "kvm" {
		return "host"
	}
	return "max"
}

func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// start opens the files, makes the scratch disk and starts QEMU. started is told the VM's id before anything is
// waited for.
func (m *machine) start(started func(string) error) (*process, error) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	files = append(files, theirs)
	for _, path := range []string{m.kernel, m.initrd, m.root} {
		f, err := os.Open(path)
		if err != nil {
			ours.Close()
			return nil, fmt.Errorf("opening a part of the image: %w", err)
		}
		files = append(files, f)
	}
	scratch, err := newScratch(m.scratchDir, m.disk)
	if err != nil {
		ours.Close()
		return nil, err
	}
	files = append(files, scratch)
	p, err := launch(m.qemu, m.args(), files, ours, m.console, limits{memory: m.memory, disk: m.disk, kvm: m.accel == "kvm"})
	if err != nil {
		ours.Close()
		return nil, err
	}
	if started != nil {
		if err := started(p.id); err != nil {
			return nil, errors.Join(err, p.destroy())
		}
	}
	return p, nil
}

// socketpair is the channel: a file descriptor each, so that there is no path to connect to and none to leave behind.
func socketpair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		// Deep buffers spare an emulated guest round trips through a busy host.
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20)
	}
	return os.NewFile(uintptr(fds[0]), "channel"), os.NewFile(uintptr(fds[1]), "guest channel"), nil
}

// newScratch makes a sparse ext4 file without a name: it is gone when the last descriptor is closed, however joy ends.
func newScratch(dir string, size int64) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".joy-scratch-*")
	if err != nil {
		return nil, fmt.Errorf("making the scratch disk: %w", err)
	}
	defer os.Remove(f.Name())
	if err := f.Truncate(size); err != nil {
		f.Close()
		return nil, fmt.Errorf("making the scratch disk: %w", err)
	}
	// No journal: the disk never outlives the VM. No reserved blocks: root is the only user.
	mkfs := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal,^resize_inode", //nolint:noctx // ends by itself
		"-E", "lazy_itable_init=1,nodiscard", f.Name())
	mkfs.Env = []string{"PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C"}
	if path, err := lookSbin("mkfs.ext4"); err == nil {
		mkfs.Path, mkfs.Err = path, nil
	}
	if out, err := mkfs.CombinedOutput(); err != nil {
		f.Close()
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fault.New(fault.Platform, "mkfs.ext4 is not installed").WithHint("sudo apt-get install e2fsprogs")
		}
		return nil, fmt.Errorf("making the scratch disk: %w: %s", err, out)
	}
	return f, nil
}

// lookSbin finds a system program for users whose PATH has no sbin.
func lookSbin(name string) (string, error) {
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if info, err := os.Stat(dir + name); err == nil && !info.IsDir() {
			return dir + name, nil
		}
	}
	return exec.LookPath(name)
}
