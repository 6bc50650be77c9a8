package guest

import (
	"errors"
	"fmt"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// keptCaps are a container's default capabilities less NET_RAW, MKNOD, SYS_CHROOT and SETPCAP.
var keptCaps = []uintptr{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FSETID, unix.CAP_FOWNER, unix.CAP_SETGID, unix.CAP_SETUID,
	unix.CAP_SETFCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_KILL, unix.CAP_AUDIT_WRITE,
}

// deniedCalls reach the kernel of the VM rather than the work: modules, clocks, namespaces, mounts, other processes'
// memory, keys, tracing of the kernel. User namespaces are off by sysctl, so clone needs no filter of its flags.
var deniedCalls = []string{
	"acct", "add_key", "adjtimex", "bpf", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init",
	"finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "init_module", "io_uring_enter", "io_uring_register",
	"io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "mount",
	"mount_setattr", "move_mount", "move_pages", "name_to_handle_at", "nfsservctl", "open_by_handle_at", "open_tree",
	"perf_event_open", "pidfd_getfd", "pivot_root", "process_madvise", "process_vm_readv", "process_vm_writev",
	"ptrace", "quotactl", "quotactl_fd", "reboot", "request_key", "setdomainname", "sethostname", "setns",
	"settimeofday", "swapoff", "swapon", "syslog", "umount2", "unshare", "userfaultfd", "vhangup",
}

// restrict takes every right from the calling thread that a step must not have; the commands it forks inherit what is
// left. Rights are a thread's in Linux, and the caller is locked to this one: stopping all threads for each of forty
// system calls took half a second under emulation. Between fork and exec a command shares the guest's memory. It cannot
// be traced there: the guest is not dumpable, so that needs CAP_SYS_PTRACE (ptrace(2)), and ptrace is filtered.
func restrict() error {
	unix.Umask(0o022)
	if err := dropCapabilities(); err != nil {
		return err
	}
	filter := seccomp.Filter{
		NoNewPrivs: true,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionAllow,
			Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionErrno, Names: knownCalls()}},
		},
	}
	if err := seccomp.LoadFilter(filter); err != nil {
		return fmt.Errorf("loading the seccomp filter: %w", err)
	}
	return denyTheRest()
}

// denyTheRest refuses every call made through another architecture's table, such as int 0x80 on amd64: the filter
// above knows the numbers of one table only and lets the others through. It also answers as a file system without
// attributes to whoever would change those of a file: with them a step could have its files counted as another's, and
// its share of the disk would be no limit. LoadFilter has set no_new_privs.
func denyTheRest() error {
	info, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	const offsetOfNr, offsetOfArch, offsetOfRequest = 0, 4, 16 + 8 // in struct seccomp_data (seccomp(2)); ioctl's second argument
	code := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offsetOfArch},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(info.ID), Jf: 6},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offsetOfNr},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_IOCTL, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offsetOfRequest}, // the kernel, too, takes its lower half only
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: fsIocSetFlags, Jt: 3},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: fsIocFSSetXattr, Jt: 2},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOTTY)},
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program))) //nolint:gosec // prctl(2) takes an address
	if errno != 0 {
		return fmt.Errorf("loading the seccomp filter of foreign calls: %w", errno)
	}
	return nil
}

func dropCapabilities() error {
	var keep uint64
	for _, c := range keptCaps {
		keep |= 1 << c
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keep&(1<<c) != 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("dropping capability %d: %w", c, err)
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{}
	for i := range data {
		word := uint32(keep >> (32 * i))
		data[i] = unix.CapUserData{Effective: word, Permitted: word}
	}
	if err := unix.Capset(&head, &data[0]); err != nil {
		return fmt.Errorf("setting capabilities: %w", err)
	}
	return nil
}
