package guest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mount is one mount(2).
type mount struct {
	source, target, fstype string
	flags                  uintptr
	data                   string
}

// make creates the mount point when it is missing and mounts.
func (m mount) make() error {
	if err := os.MkdirAll(m.target, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(m.source, m.target, m.fstype, m.flags, m.data); err != nil {
		return fmt.Errorf("mounting %s on %s: %w", cmp.Or(m.fstype, m.source), m.target, err)
	}
	return nil
}

// bind mounts source over target with flags such as MS_RDONLY, which only a remount applies to a bind mount.
func bind(source, target string, flags uintptr) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("binding %s: %w", target, err)
	}
	if flags == 0 {
		return nil
	}
	if err := unix.Mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|flags, ""); err != nil {
		return fmt.Errorf("binding %s: %w", target, err)
	}
	return nil
}

// deviceNodes are bound one by one into a world's /dev, which is itself nodev: a plain tmpfs there would let a step
// that can make nodes open the disks and the port.
var deviceNodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

// maskedPaths say or do something about the VM as a whole; a step finds them empty.
var maskedPaths = []string{
	"/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug", "/proc/scsi",
	"/proc/acpi", "/proc/asound", "/proc/kpagecount", "/proc/kpageflags", "/proc/kallsyms", "/sys/firmware",
}

// readOnlyPaths would let a step change the VM as a whole.
var readOnlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}

// systemDirs are what a world has of its kernel: they are built below dirSystem, which is the same in every world, and moved
// into its root.
var systemDirs = []string{"/proc", "/sys", "/dev"}

const dirSystem = "/system"

// buildSystem mounts them for the namespaces that the caller is in. Every mount is nodev except the single device nodes.
func buildSystem() error {
	const safe = unix.MS_NODEV | unix.MS_NOSUID
	for _, m := range []mount{
		{"proc", dirSystem + "/proc", "proc", safe | unix.MS_NOEXEC, ""},
		{"sysfs", dirSystem + "/sys", "sysfs", safe | unix.MS_NOEXEC | unix.MS_RDONLY, ""},
		{"dev", dirSystem + "/dev", "tmpfs", safe | unix.MS_NOEXEC, "mode=0755,size=64k"},
		{"devpts", dirSystem + "/dev/pts", "devpts", unix.MS_NOSUID | unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"},
		{"shm", dirSystem + "/dev/shm", "tmpfs", safe | unix.MS_NOEXEC, "mode=1777"},
		{"mqueue", dirSystem + "/dev/mqueue", "mqueue", safe | unix.MS_NOEXEC, ""},
	} {
		if err := m.make(); err != nil {
			return err
		}
	}
	for _, name := range deviceNodes {
		if err := bindFile("/dev/"+name, dirSystem+"/dev/"+name, unix.MS_NOSUID|unix.MS_NOEXEC); err != nil {
			return err
		}
	}
	for link, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, dirSystem+"/dev/"+link); err != nil {
			return err
		}
	}
	return mask(dirSystem)
}

// buildRoot mounts a world's file system at root, and moves there what buildSystem has built.
func buildRoot(root, workspace string, readOnly []string) error {
	const safe = unix.MS_NODEV | unix.MS_NOSUID
	ws := root + "/workspace"
	if err := os.MkdirAll(ws, 0o755); err != nil {
		return err
	}
	if err := bind(workspace, ws, safe); err != nil {
		return err
	}
	if err := bindReadOnly(ws, readOnly); err != nil {
		return err
	}
	for _, dir := range systemDirs {
		if err := (mount{dirSystem + dir, root + dir, "", unix.MS_MOVE, ""}).make(); err != nil {
			return err
		}
	}
	return nil
}

// bindReadOnly makes each directory below ws read-only. The directories above it become mount points too: those can
// neither be renamed nor removed, so nothing else can take its place.
func bindReadOnly(ws string, dirs []string) error {
	const safe = unix.MS_NODEV | unix.MS_NOSUID
	pinned := map[string]bool{".": true}
	var pin func(dir string) error
	pin = func(dir string) error {
		if pinned[dir] {
			return nil
		}
		pinned[dir] = true
		if err := pin(filepath.Dir(dir)); err != nil {
			return err
		}
		return bind(filepath.Join(ws, dir), filepath.Join(ws, dir), safe)
	}
	for _, dir := range dirs {
		if err := pin(filepath.Clean(dir)); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		// Recursively: one of them may lie in another.
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(-1, filepath.Join(ws, dir), unix.AT_RECURSIVE, &attr); err != nil {
			return fmt.Errorf("making %s read-only: %w", dir, err)
		}
	}
	return nil
}

func bindFile(source, target string, flags uintptr) error {
	f, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	f.Close()
	return bind(source, target, flags)
}

// mask takes from a /proc and a /sys below root what is about the VM as a whole.
func mask(root string) error {
	for _, p := range readOnlyPaths {
		if err := bind(root+p, root+p, unix.MS_RDONLY|unix.MS_NODEV|unix.MS_NOSUID|unix.MS_NOEXEC); err != nil && exists(root+p) {
			return err
		}
	}
	for _, p := range maskedPaths {
		info, err := os.Lstat(root + p)
		if err != nil {
			continue // this kernel has none
		}
		if info.IsDir() {
			err = (mount{"mask", root + p, "tmpfs", unix.MS_RDONLY | unix.MS_NODEV | unix.MS_NOSUID | unix.MS_NOEXEC, "size=0,nr_inodes=2"}).make()
		} else {
			err = bind("/dev/null", root+p, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// enterRoot makes root the world's root and lets go of the guest's own: pivot_root over itself, then detach what is
// now underneath. A chroot would be a suggestion only.
func enterRoot(root string) error {
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivoting into the world: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detaching the guest's root: %w", err)
	}
	return unix.Chdir("/workspace")
}
