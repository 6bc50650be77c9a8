package microvm

import (
	"bytes"
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
	image                      string // digest of the image that kernel and root are of
	scratchDir, cacheDir       string
	cpus                       int
	memory, disk               int64
	accel                      string
	console                    io.Writer
}

// Descriptors that QEMU inherits, in the order of exec.Cmd.ExtraFiles. Files are handed over open: QEMU needs no path,
// and what joy opened is what the VM gets. Those of the way it starts come after these.
const (
	fdChannel = 3 + iota
	fdRoot
	fdScratch
	fdFirst
)

// commandLine is the kernel's. Boot messages below errors stay away from the serial port, which is slow under
// emulation; a panic is printed and ends the VM.
const commandLine = "console=ttyS0 quiet loglevel=3 panic=-1 random.trust_cpu=on rdinit=" + image.InitPath

// way is how a VM comes to its ready line: the arguments that are its own, and the files these speak of.
type way struct {
	args  []string
	files []func() (*os.File, error)
}

// booting starts the kernel.
func (m *machine) booting(words string) way {
	return way{
		args:  []string{"-kernel", fdPath(fdFirst), "-initrd", fdPath(fdFirst + 1), "-append", commandLine + m.clock() + words},
		files: []func() (*os.File, error){opener(m.kernel), opener(m.initrd)},
	}
}

func opener(path string) func() (*os.File, error) {
	return func() (*os.File, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("opening a part of the image: %w", err)
		}
		return f, nil
	}
}

// args is QEMU's command line. q35 under emulation: the plain microvm machine hangs when the host is busy
// (docs/adr/0004-machine-type.md).
func (m *machine) args(w way) []string {
	return append([]string{
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-name", "joy",
		"-machine", "q35,usb=off,vmport=off,smbus=off,sata=off,graphics=off",
		"-accel", m.accel, "-cpu", m.cpu(),
		"-smp", strconv.Itoa(m.cpus), "-m", strconv.FormatInt(m.memory>>20, 10) + "M",
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
	}, w.args...)
}

// cpu is the host's under KVM. An emulated one is without what only costs it: a fifth level of page tables, and the
// promise that copying byte by byte is fast, which the kernel would believe (docs/adr/0024-snapshot-start.md).
func (m *machine) cpu() string {
	if m.accel == "kvm" {
		return "host"
	}
	return "max,la57=off,erms=off,fsrm=off"
}

// clock is what the kernel is told of its clock. Under KVM it has one of its own.
func (m *machine) clock() string {
	if m.accel == "kvm" {
		return ""
	}
	cpu, err := hostCPU()
	if err != nil {
		return ""
	}
	return clockWords(cpu)
}

func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// start boots the VM. started is told its id before anything is waited for.
func (m *machine) start(started func(string) error) (*process, error) {
	return m.begin(m.booting(""), started)
}

// begin opens the files, starts QEMU and makes the scratch disk's file system meanwhile: nothing in a VM looks for it
// before the start request, which the caller sends after begin has returned.
func (m *machine) begin(w way, started func(string) error) (*process, error) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	scratch, err := newScratch(m.scratchDir, m.disk)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketpair()
	if err != nil {
		scratch.Close()
		return nil, err
	}
	files = append(files, theirs)
	root, err := opener(m.root)()
	if err != nil {
		scratch.Close()
		return nil, errors.Join(err, ours.Close())
	}
	files = append(files, root, scratch)
	for _, open := range w.files {
		f, err := open()
		if err != nil {
			return nil, errors.Join(err, ours.Close())
		}
		files = append(files, f)
	}
	format := formatScratch(scratch)
	p, err := launch(m.qemu, m.args(w), files, ours, m.console, limits{memory: m.memory, disk: m.disk, kvm: m.accel == "kvm"})
	if err == nil && started != nil {
		err = started(p.id)
	}
	if formatErr := format(); err == nil {
		err = formatErr
	}
	switch {
	case p == nil:
		return nil, errors.Join(err, ours.Close())
	case err != nil:
		return nil, errors.Join(err, p.destroy())
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

// newScratch makes a sparse file without a name: it is gone when the last descriptor is closed, however joy ends.
func newScratch(dir string, size int64) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".joy-scratch-*")
	if err == nil {
		err = errors.Join(os.Remove(f.Name()), f.Truncate(size))
		if err != nil {
			f.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("making the scratch disk: %w", err)
	}
	return f, nil
}

// formatScratch begins to make an ext4 file system; what it returns waits for the end.
func formatScratch(f *os.File) (wait func() error) {
	// No journal and no checksums: the disk never outlives the VM. No reserved blocks: root is the only user. Project quotas keep a world
	// to its share (docs/adr/0027-one-step-leaves-room-for-the-others.md); a project needs inodes of 256 bytes.
	mkfs := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal,^resize_inode,^metadata_csum,quota,project", "-I", "256", //nolint:noctx // ends by itself
		"-E", "lazy_itable_init=1,nodiscard,quotatype=prjquota", fdPath(3))
	mkfs.ExtraFiles = []*os.File{f}
	mkfs.Env = []string{"PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C"}
	if path, err := lookSbin("mkfs.ext4"); err == nil {
		mkfs.Path, mkfs.Err = path, nil
	}
	var said bytes.Buffer
	mkfs.Stdout, mkfs.Stderr = &said, &said
	err := mkfs.Start()
	return func() error {
		if err == nil {
			err = mkfs.Wait()
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, exec.ErrNotFound):
			return fault.New(fault.Platform, "mkfs.ext4 is not installed").WithHint("sudo apt-get install e2fsprogs")
		default:
			return fmt.Errorf("making the scratch disk: %w: %s", err, said.Bytes())
		}
	}
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
