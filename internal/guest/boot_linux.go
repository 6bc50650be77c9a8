package guest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// Places in the guest's own root, a tmpfs that no world ever sees.
const (
	dirImage   = "/image"   // the image, read-only
	dirVM      = "/vm"      // what every world finds over the image: joy-guest, machine-id, hosts
	dirScratch = "/scratch" // the scratch disk: uppers and workspaces
	dirCgroup  = "/cgroup"  // cgroup2
	guestPath  = "/usr/local/bin/joy-guest"
)

// PortName is the name of the virtio-serial port that leads to the host.
const PortName = "joy"

// Init is PID 1 of a VM. It does not return: the VM powers off when the host's end of the channel is closed, and
// stops with a line on the console when it cannot boot.
func Init() {
	// One CPU's worth of Go is enough for a relay, and leaves the others to the workload.
	port, err := boot()
	if err == nil {
		err = serve(port)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, "joy-guest:", err)
	}
	powerOff()
}

func powerOff() {
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	select {}
}

// boot goes from the initramfs to a guest that waits for its host.
func boot() (*os.File, error) {
	unix.Umask(0)
	for _, m := range []mount{
		{"proc", "/proc", "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
		{"sysfs", "/sys", "sysfs", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
		{"dev", "/dev", "devtmpfs", unix.MS_NOSUID, "mode=0755"},
	} {
		if err := m.make(); err != nil {
			return nil, err
		}
	}
	if err := loadModules("/modules"); err != nil {
		return nil, err
	}
	if err := leaveInitramfs(); err != nil {
		return nil, err
	}
	root, err := disk("root")
	if err != nil {
		return nil, err
	}
	for _, m := range []mount{
		{root, dirImage, "squashfs", unix.MS_RDONLY | unix.MS_NODEV | unix.MS_NOSUID, ""},
		{"cgroup2", dirCgroup, "cgroup2", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
	} {
		if err := m.make(); err != nil {
			return nil, err
		}
	}
	port, err := openPort(PortName)
	if err != nil {
		return nil, err
	}
	_, err = port.WriteString(guestproto.Ready)
	return port, err
}

// leaveInitramfs moves the guest to a tmpfs root: a world's pivot_root fails while the root is the initramfs.
func leaveInitramfs() error {
	const next = "/next"
	if err := (mount{"root", next, "tmpfs", unix.MS_NODEV | unix.MS_NOSUID, "mode=0755,size=50%"}).make(); err != nil {
		return err
	}
	// The binary goes where every world has it on PATH; the initramfs copy is freed.
	bin := next + dirVM + guestPath
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return err
	}
	if err := copyFile("/init", bin, 0o755); err != nil {
		return err
	}
	_ = os.RemoveAll("/modules")
	_ = os.Remove("/init")
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if err := os.MkdirAll(next+dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(dir, next+dir, "", unix.MS_MOVE, ""); err != nil {
			return fmt.Errorf("moving %s: %w", dir, err)
		}
	}
	if err := os.Chdir(next); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("moving the root: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return fmt.Errorf("entering the new root: %w", err)
	}
	return os.Chdir("/")
}

func copyFile(from, to string, mode os.FileMode) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, mode)
}

// loadModules loads the kernel modules of the image in the order of their names, which is the order of dependency.
func loadModules(dir string) error {
	names, err := filepath.Glob(dir + "/*.ko")
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		f.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("loading %s: %w", filepath.Base(name), err)
		}
	}
	return nil
}

// disk finds a virtio disk by the serial that the host gave it: names depend on the order of probing.
func disk(serial string) (string, error) {
	found, err := await(func() (string, bool) {
		paths, _ := filepath.Glob("/sys/block/*/serial")
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil && strings.TrimSpace(string(b)) == serial {
				return "/dev/" + filepath.Base(filepath.Dir(p)), true
			}
		}
		return "", false
	})
	if err != nil {
		return "", fmt.Errorf("no disk named %q appeared", serial)
	}
	return found, nil
}

func openPort(name string) (*os.File, error) {
	dev, err := await(func() (string, bool) {
		paths, _ := filepath.Glob("/sys/class/virtio-ports/*/name")
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil && string(bytes.TrimSpace(b)) == name {
				return "/dev/" + filepath.Base(filepath.Dir(p)), true
			}
		}
		return "", false
	})
	if err != nil {
		return nil, fmt.Errorf("no port named %q appeared", name)
	}
	return os.OpenFile(dev, os.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

// await polls for a device. The kernel probes virtio devices asynchronously and there is no udev here to tell of them;
// the bound is generous because an emulated VM may be starved for seconds.
func await(look func() (string, bool)) (string, error) {
	for wait := time.Millisecond; wait < 20*time.Second; wait += wait / 4 {
		if v, ok := look(); ok {
			return v, nil
		}
		time.Sleep(wait)
	}
	return "", errors.New("not found")
}
