//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// nameVM is what the kernel starts in a VM: this program takes joy-guest's place, and speaks its protocol to the host.
const nameVM = "joy-guest"

// Places of the VM while it boots.
const (
	dirImage = "/image" // the image, read-only
	dirNext  = "/next"  // the root to be: a disk that can be written, as E2B's is
)

// runVM is PID 1 of a VM. It returns only when the VM cannot go on.
func runVM() error {
	port, err := bootVM()
	if err == nil {
		v := &vm{conns: map[int]io.Closer{}}
		v.session = guestproto.NewSession(port, false, func(st *guestproto.Stream) { go v.handle(st) })
		err = v.session.Serve()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, "envd:", err)
	}
	powerOff()
	return err
}

func powerOff() { _ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF) }

// bootVM goes from the initramfs to a guest that waits for its host.
func bootVM() (*os.File, error) {
	unix.Umask(0)
	for _, m := range []struct {
		dir, kind string
		flags     uintptr
	}{
		{"/proc", "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{"/sys", "sysfs", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{"/dev", "devtmpfs", unix.MS_NOSUID},
	} {
		if err := mountAt(m.kind, m.dir, m.kind, m.flags, ""); err != nil {
			return nil, err
		}
	}
	modules, err := filepath.Glob("/modules/*.ko")
	if err != nil {
		return nil, err
	}
	slices.Sort(modules) // a name begins with its level, and needs only lower ones
	for _, path := range modules {
		if err := loadModule(path); err != nil {
			return nil, err
		}
	}
	image, err := device("/sys/block/*/serial", "root")
	if err != nil {
		return nil, err
	}
	if err := mountAt(image, dirImage, "squashfs", unix.MS_RDONLY, ""); err != nil {
		return nil, err
	}
	path, err := device("/sys/class/virtio-ports/*/name", "joy")
	if err != nil {
		return nil, err
	}
	port, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	_, err = port.WriteString(guestproto.Ready)
	return port, err
}

func mountAt(source, dir, kind string, flags uintptr, data string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(source, dir, kind, flags, data); err != nil {
		return fmt.Errorf("mounting %s: %w", dir, err)
	}
	return nil
}

func loadModule(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("loading %s: %w", filepath.Base(path), err)
	}
	return nil
}

// device waits for the one whose attribute says name: the kernel finds devices in its own time.
func device(attributes, name string) (string, error) {
	for wait := time.Millisecond; wait < 20*time.Second; wait += wait / 4 {
		paths, _ := filepath.Glob(attributes)
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil && string(bytes.TrimSpace(b)) == name {
				return "/dev/" + filepath.Base(filepath.Dir(p)), nil
			}
		}
		time.Sleep(wait)
	}
	return "", fmt.Errorf("no device named %q appeared", name)
}

// settle makes the scratch disk the root, with all that is in the image, and what a Linux system has mounted there.
func settle(now int64) error {
	clock := unix.NsecToTimeval(now)
	if err := unix.Settimeofday(&clock); err != nil {
		return fmt.Errorf("setting the clock: %w", err)
	}
	scratch, err := device("/sys/block/*/serial", "scratch")
	if err != nil {
		return err
	}
	if err := mountAt(scratch, dirNext, "ext4", unix.MS_NOATIME, "prjquota"); err != nil {
		return err
	}
	if err := copyTree(dirImage, dirNext); err != nil {
		return fmt.Errorf("copying the image: %w", err)
	}
	if err := unix.Unmount(dirImage, 0); err != nil {
		return err
	}
	if err := furnish(dirNext); err != nil {
		return err
	}
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if err := errors.Join(os.MkdirAll(dirNext+dir, 0o755), unix.Mount(dir, dirNext+dir, "", unix.MS_MOVE, "")); err != nil {
			return fmt.Errorf("moving %s: %w", dir, err)
		}
	}
	// pivot_root(2) does not leave an initramfs; what is moved over it can be left later, as any root.
	if err := errors.Join(os.Chdir(dirNext), unix.Mount(".", "/", "", unix.MS_MOVE, ""), unix.Chroot("."), os.Chdir("/")); err != nil {
		return fmt.Errorf("entering the root: %w", err)
	}
	for _, m := range []struct{ dir, kind, data string }{
		{"/dev/pts", "devpts", "ptmxmode=0666,mode=0620"},
		{"/dev/shm", "tmpfs", "mode=1777"},
		{"/sys/fs/cgroup", "cgroup2", ""},
	} {
		if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.dir, m.kind, unix.MS_NOSUID|unix.MS_NOEXEC, m.data); err != nil {
			return fmt.Errorf("mounting %s: %w", m.dir, err)
		}
	}
	if err := linkDevices("/dev"); err != nil {
		return err
	}
	if err := os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("+memory +pids +cpu"), 0); err != nil {
		return err
	}
	unix.Umask(0o022)
	return errors.Join(unix.Sethostname([]byte("e2b")), raiseLoopback())
}

// copyTree copies directories, files and links.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case d.IsDir():
			return errors.Join(os.MkdirAll(at, 0o755), os.Chmod(at, info.Mode().Perm()|info.Mode()&fs.ModeSticky))
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		case d.Type().IsRegular():
			return copyFile(path, at, info.Mode().Perm())
		}
		return nil
	})
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
