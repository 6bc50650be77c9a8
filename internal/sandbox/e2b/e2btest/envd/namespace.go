//go:build linux

package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// What e2btest hands to the first process of a machine.
const (
	fdControl = 3 // a socket through which connections come, for the daemon
	fdRoot    = 4 // the root file system, a tar file
	fdProgram = 5 // this program
)

// staging is where the new root is built: any directory that every host has. It is covered in this mount namespace only.
const staging = "/tmp"

// runNamespace is PID 1 of a machine made of namespaces: nothing of the host's file system is left in it.
func runNamespace() error {
	for fd := fdControl; fd <= fdProgram; fd++ {
		unix.CloseOnExec(fd)
	}
	unix.Umask(0)
	if err := enter(); err != nil {
		return err
	}
	unix.Umask(0o022)
	if err := raiseLoopback(); err != nil {
		return err
	}
	if os.Getenv("NO_OVERLAY") != "" {
		if err := refuseOverlays(); err != nil {
			return err
		}
	}
	control := os.NewFile(fdControl, "control")
	daemon, err := startDaemon(control)
	if err != nil {
		return err
	}
	control.Close()
	return reap(daemon)
}

// enter builds the root on a tmpfs and moves into it.
func enter() error {
	runtime.LockOSThread()                                     // what is not shared is this thread's and its children's
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil { // here and not before: the root is the group it is in now
		return fmt.Errorf("taking the control group for the root of all: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts apart: %w", err)
	}
	// The host's devices, before the staging directory covers anything.
	devices := []string{"null", "zero", "full", "random", "urandom", "tty"}
	held := map[string]int{}
	for _, name := range devices {
		fd, err := unix.Open("/dev/"+name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening /dev/%s: %w", name, err)
		}
		held[name] = fd
	}
	size, err := strconv.ParseUint(os.Getenv("ROOT_SIZE"), 10, 63)
	if err != nil {
		return fmt.Errorf("the size of the root: %w", err)
	}
	if err := unix.Mount("root", staging, "tmpfs", unix.MS_NODEV|unix.MS_NOSUID, fmt.Sprintf("mode=0755,size=%d", size)); err != nil {
		return fmt.Errorf("mounting the root: %w", err)
	}
	root := os.NewFile(fdRoot, "root.tar")
	if err := untar(staging, root); err != nil {
		return fmt.Errorf("unpacking the root: %w", err)
	}
	root.Close()
	if err := furnish(staging); err != nil {
		return err
	}
	if err := mountSystem(held); err != nil {
		return err
	}
	if err := unix.Chdir(staging); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("entering the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the host's root: %w", err)
	}
	if err := unix.Sethostname([]byte("e2b")); err != nil {
		return err
	}
	return os.Chdir("/")
}

// mountSystem mounts what the kernel gives, below the staging directory. A device cannot be made in a user namespace: the
// host's harmless ones are bound in.
func mountSystem(held map[string]int) error {
	const quiet = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	for _, m := range []struct {
		dir, kind string
		flags     uintptr
		data      string
	}{
		{"proc", "proc", quiet, ""},
		{"sys", "sysfs", quiet | unix.MS_RDONLY, ""},
		{"dev", "tmpfs", unix.MS_NOSUID, "mode=0755,size=64k"},
		{"dev/pts", "devpts", unix.MS_NOSUID | unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"},
		{"dev/shm", "tmpfs", unix.MS_NOSUID | unix.MS_NODEV, "mode=1777,size=64m"},
	} {
		dir := filepath.Join(staging, m.dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, dir, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mounting /%s: %w", m.dir, err)
		}
	}
	// A kernel without it, or a host that hides it, has none; the real one has.
	_ = unix.Mount("cgroup2", filepath.Join(staging, "sys/fs/cgroup"), "cgroup2", quiet, "")
	for name, fd := range held {
		path := filepath.Join(staging, "dev", name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			return err
		}
		if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("binding /dev/%s: %w", name, err)
		}
		unix.Close(fd)
	}
	return linkDevices(filepath.Join(staging, "dev"))
}

// linkDevices makes the names that programs expect in /dev.
func linkDevices(dev string) error {
	for name, to := range map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		_ = os.Remove(filepath.Join(dev, name))
		if err := os.Symlink(to, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}

// untar unpacks an image of joy's own: directories, files and links.
func untar(dir string, r io.Reader) error {
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.Clean("/"+h.Name))
		mode := os.FileMode(h.Mode).Perm() | os.FileMode(h.Mode)&0o1000>>9*os.ModeSticky
		switch h.Typeflag {
		case tar.TypeDir:
			if err = os.MkdirAll(path, mode.Perm()); err == nil {
				err = os.Chmod(path, mode)
			}
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, path)
		case tar.TypeChar: // those of /dev, which is mounted over
		case tar.TypeLink:
			err = os.Link(filepath.Join(dir, filepath.Clean("/"+h.Linkname)), path)
		case tar.TypeReg:
			var f *os.File
			if f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm()); err == nil {
				_, err = io.Copy(f, in)
				err = errors.Join(err, f.Close())
			}
		default:
			err = fmt.Errorf("%s is of type %q", h.Name, h.Typeflag)
		}
		if err != nil {
			return err
		}
	}
}

// raiseLoopback brings lo up, which is all the network there is.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("raising lo: %w", err)
	}
	return nil
}
