package microvm

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// heldCalls are what QEMU never needs once its files are open, and what would lead past the other layers. Landlock, before
// its ninth version, does not hold sockets with a path (a desktop's bus, a container daemon, an agent for keys) nor any change to a
// file's mode, owner, times and attributes; io_uring makes calls that no filter sees. The thread that starts QEMU must
// still fork, change its ids and execute: those QEMU's own filter refuses.
var heldCalls = []string{
	// talking to others
	"socket", "connect", "bind", "listen", "accept", "accept4", "mq_open", "mq_unlink", "msgget", "semget", "shmget",
	// changing files by path, or what their descriptors do not give
	"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat",
	"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "setxattrat", "removexattrat",
	"truncate", "creat", "mknod", "mknodat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat",
	"renameat2", "link", "linkat", "symlink", "symlinkat",
	"inotify_init", "inotify_init1", "fanotify_init", "fanotify_mark", "name_to_handle_at", "open_by_handle_at",
	// other processes
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
	"move_pages", "migrate_pages", "ioprio_set", "sched_setattr", "execveat",
	// more rights, other namespaces, mounts
	"unshare", "setns", "chroot", "pivot_root", "mount", "umount2", "mount_setattr", "move_mount", "open_tree",
	"open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick", "capset", "add_key", "request_key", "keyctl",
	// the kernel's own matters
	"acct", "adjtimex", "bpf", "clock_adjtime", "clock_settime", "delete_module", "finit_module", "init_module",
	"io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl", "kexec_file_load", "kexec_load",
	"lookup_dcookie", "nfsservctl", "perf_event_open", "quotactl", "quotactl_fd", "reboot", "setdomainname", "sethostname",
	"settimeofday", "swapoff", "swapon", "syslog", "userfaultfd", "vhangup", "modify_ldt",
}

// denyCalls loads joy's own filter on the calling thread, which must have no_new_privs: heldCalls are answered with EPERM, calls
// through another architecture's table with ENOSYS. It is checked by trying.
func denyCalls() error {
	table, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	code := filter(table)
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program))) //nolint:gosec // prctl(2) takes an address
	if errno != 0 {
		return errno
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	if !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("it does not hold: making a socket gave %v", err)
	}
	return nil
}

// filter is the program (seccomp(2), struct seccomp_data). All but one of its tests are of a call's number alone: the
// kernel keeps the answer to those, and QEMU does not pay for the filter.
func filter(table *arch.Info) []unix.SockFilter {
	const offsetOfNumber, offsetOfArch, offsetOfPid, x32 = 0, 4, 16, 0x40000000
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	jump := func(test uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	deny := func(errno unix.Errno) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
	}
	code := []unix.SockFilter{
		load(offsetOfArch), jump(unix.BPF_JEQ, uint32(table.ID), 1, 0), deny(unix.ENOSYS),
		load(offsetOfNumber), jump(unix.BPF_JGE, x32, 0, 1), deny(unix.ENOSYS),
	}
	for _, name := range heldCalls {
		if nr, ok := table.SyscallNames[name]; ok { // another architecture may lack it
			code = append(code, jump(unix.BPF_JEQ, uint32(nr), 0, 1), deny(unix.EPERM))
		}
	}
	// A process's own limits it may ask for and lower; another's are not its to change.
	return append(code,
		jump(unix.BPF_JEQ, unix.SYS_PRLIMIT64, 0, 3), load(offsetOfPid), jump(unix.BPF_JEQ, 0, 1, 0), deny(unix.EPERM),
		allow)
}
