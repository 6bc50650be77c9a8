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

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// Places in the guest's own root, a tmpfs that no world ever sees.
const (
	dirImage   = "/image"   // the image, read-only
	dirVM      = "/vm"      // what every world finds over the image: joy-guest in /usr/local/bin, machine-id, hosts
	dirScratch = "/scratch" // the scratch disk: uppers and workspaces
	dirCgroup  = "/cgroup"  // cgroup2
)

// PortName is the name of the virtio-serial port that leads to the host.
const PortName = "joy"

// Init is PID 1 of a VM. It does not return: the VM powers off when the host's end of the channel is closed, and
// stops with a line on the console when it cannot boot.
func Init() {
	b, err := boot()
	if err == nil {
		err = serve(b)
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

// booted is a guest that waits for its host.
type booted struct {
	*ground
	port    io.ReadWriteCloser
	scratch string // the scratch disk, of which nothing has been read
	found   guestproto.Boot
}

// boot goes from the initramfs to a guest that waits for its host.
func boot() (*booted, error) {
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
	b := &booted{ground: ownGround()}
	if err := b.settle(); err != nil {
		return nil, err
	}
	if b.scratch, err = disk("scratch"); err != nil {
		return nil, err
	}
	if b.port, err = openPort(PortName); err != nil {
		return nil, err
	}
	warm()
	_, err = io.WriteString(b.port, guestproto.Ready)
	return b, err
}

// leaveInitramfs moves the guest to a tmpfs root: a world's pivot_root fails while the root is the initramfs. The
// directory that joy-guest lies in stays where it is and is bound into the new root, which spares a copy.
func leaveInitramfs() error {
	const next = "/next"
	if err := (mount{"root", next, "tmpfs", unix.MS_NODEV | unix.MS_NOSUID, "mode=0755,size=50%"}).make(); err != nil {
		return err
	}
	_ = os.RemoveAll("/modules")
	for _, dir := range []string{"/proc", "/sys", "/dev", dirVM} {
		if err := os.MkdirAll(next+dir, 0o755); err != nil {
			return err
		}
		flags := uintptr(unix.MS_MOVE)
		if dir == dirVM {
			flags = unix.MS_BIND
		}
		if err := unix.Mount(dir, next+dir, "", flags, ""); err != nil {
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

// loadModules loads the kernel modules of the image. A name begins with the module's level: it needs only modules of
// lower levels, so those of one level are loaded side by side.
func loadModules(dir string) error {
	names, err := filepath.Glob(dir + "/*.ko")
	if err != nil {
		return err
	}
	slices.Sort(names)
	for len(names) > 0 {
		level, _, _ := strings.Cut(filepath.Base(names[0]), "-")
		var group errgroup.Group
		for len(names) > 0 && strings.HasPrefix(filepath.Base(names[0]), level+"-") {
			name := names[0]
			group.Go(func() error { return loadModule(name) })
			names = names[1:]
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func loadModule(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("loading %s: %w", filepath.Base(name), err)
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
