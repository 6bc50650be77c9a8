package microvm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/sandbox/scratch"
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
		f, err := ordinary.Open(path)
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

// unchecked keeps the kernel from counting the interrupts of its timer for a moment and, where too few come because the
// host is busy, taking the timer for broken: "IO-APIC + timer doesn't work" and no boot. Under KVM it does not count
// either (paravirt_ops_setup in Linux's arch/x86/kernel/kvm.c).
const unchecked = " no_timer_check"

// clock is what the kernel is told of its clock. Under KVM it has one of its own.
func (m *machine) clock() string {
	if m.accel == "kvm" {
		return ""
	}
	cpu, err := hostCPU()
	if err != nil {
		return unchecked
	}
	return unchecked + clockWords(cpu)
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
	disk, err := scratch.New(m.scratchDir, m.disk)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketpair()
	if err != nil {
		disk.Close()
		return nil, err
	}
	files = append(files, theirs)
	root, err := opener(m.root)()
	if err != nil {
		disk.Close()
		return nil, errors.Join(err, ours.Close())
	}
	files = append(files, root, disk)
	for _, open := range w.files {
		f, err := open()
		if err != nil {
			return nil, errors.Join(err, ours.Close())
		}
		files = append(files, f)
	}
	format := scratch.Format(disk, scratch.Quotas)
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
