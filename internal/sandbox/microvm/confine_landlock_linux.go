package microvm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What may be done with files, by the version of Landlock's interface that knows it (landlock(7)). Everything it knows is
// refused, but for the rules: also what later versions add stays refused by the others.
const (
	fsRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE
	fsRun   = fsRead | unix.LANDLOCK_ACCESS_FS_EXECUTE
	fsWrite = fsRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE

	fsFirst    = 1<<13 - 1 // version 1: thirteen rights
	fsRefer    = unix.LANDLOCK_ACCESS_FS_REFER
	fsTruncate = unix.LANDLOCK_ACCESS_FS_TRUNCATE
	fsIoctl    = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	sinceLinux519 = 2 // the version that came with it
)

// restrictPaths lets the calling thread, and what it starts, open nothing but programs and their libraries, /dev/null,
// files that are open for reading as it is, and /dev/kvm under KVM; no file for writing but the two devices. Where the
// kernel can it also cuts off TCP, abstract sockets and signals to anything outside. It is checked by trying.
func (h *hold) restrictPaths(program string, files []*os.File) error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return errno
	}
	ruleset, err := newRuleset(int(version))
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	for _, dir := range programDirs(program) {
		if err := allowPath(ruleset, dir, fsRun); err != nil {
			return err
		}
	}
	for _, file := range []string{"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/dev/urandom"} {
		if err := allowPath(ruleset, file, fsRead); err != nil {
			return err
		}
	}
	if err := allowPath(ruleset, os.DevNull, fsWrite); err != nil {
		return err
	}
	if h.kvm {
		rights := uint64(fsWrite)
		if version >= 5 {
			rights |= fsIoctl
		}
		if err := allowPath(ruleset, "/dev/kvm", rights); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := allowReopening(ruleset, f); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return errno
	}
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	if !errors.Is(err, unix.EACCES) {
		return fmt.Errorf("it does not hold: reading / gave %v", err)
	}
	h.landlock = int(version)
	return nil
}

func newRuleset(version int) (int, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fsFirst}
	if version >= 2 {
		attr.Handled_access_fs |= fsRefer
	}
	if version >= 3 {
		attr.Handled_access_fs |= fsTruncate
	}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 5 {
		attr.Handled_access_fs |= fsIoctl
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	// Members that a kernel does not know may follow as long as they are zero.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0) //nolint:gosec // the call takes an address
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// allowPath adds a rule for what is there; what is not needs none.
func allowPath(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	return allow(ruleset, fd, rights)
}

// allowReopening adds a rule for a regular file that is open for reading only.
func allowReopening(ruleset int, f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDONLY {
		return err
	}
	err = allow(ruleset, int(f.Fd()), fsRead)
	if errors.Is(err, unix.EBADFD) { // it has no path, as one in memory: no rule can be made, and none is asked for
		return nil
	}
	return err
}

func allow(ruleset, fd int, rights uint64) error {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // the call takes an address
	if errno != 0 {
		return errno
	}
	return nil
}

// programDirs are where a program and what it loads is: the system's, and around a program that is elsewhere.
func programDirs(program string) []string {
	dirs := []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/nix/store", "/gnu/store"}
	for _, dir := range []string{filepath.Dir(program), realDir(program)} {
		for _, sub := range []string{".", "../share/qemu", "../share/seabios", "../lib", "../lib64"} {
			dirs = append(dirs, filepath.Join(dir, sub))
		}
	}
	return dirs
}

func realDir(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		real = program
	}
	return filepath.Dir(real)
}
