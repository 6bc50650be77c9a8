//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func ptr(b *byte) unsafe.Pointer { return unsafe.Pointer(b) }

// calls tries what must be refused. The arguments are such that a call which is let through says something else than
// "not permitted".
func calls([]string) error {
	raw := map[string]uintptr{
		"acct": unix.SYS_ACCT, "add_key": unix.SYS_ADD_KEY, "bpf": unix.SYS_BPF, "clock_settime": unix.SYS_CLOCK_SETTIME,
		"delete_module": unix.SYS_DELETE_MODULE, "fanotify_init": unix.SYS_FANOTIFY_INIT, "finit_module": unix.SYS_FINIT_MODULE,
		"fsmount": unix.SYS_FSMOUNT, "fsopen": unix.SYS_FSOPEN, "fspick": unix.SYS_FSPICK, "init_module": unix.SYS_INIT_MODULE,
		"io_uring_setup": unix.SYS_IO_URING_SETUP, "kcmp": unix.SYS_KCMP, "kexec_load": unix.SYS_KEXEC_LOAD,
		"keyctl": unix.SYS_KEYCTL, "mount": unix.SYS_MOUNT, "mount_setattr": unix.SYS_MOUNT_SETATTR, "move_mount": unix.SYS_MOVE_MOUNT,
		"move_pages": unix.SYS_MOVE_PAGES, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT,
		"open_tree": unix.SYS_OPEN_TREE, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
		"pivot_root": unix.SYS_PIVOT_ROOT, "process_madvise": unix.SYS_PROCESS_MADVISE, "process_vm_readv": unix.SYS_PROCESS_VM_READV,
		"process_vm_writev": unix.SYS_PROCESS_VM_WRITEV, "ptrace": unix.SYS_PTRACE, "quotactl": unix.SYS_QUOTACTL,
		"reboot": unix.SYS_REBOOT, "request_key": unix.SYS_REQUEST_KEY, "setdomainname": unix.SYS_SETDOMAINNAME,
		"sethostname": unix.SYS_SETHOSTNAME, "setns": unix.SYS_SETNS, "settimeofday": unix.SYS_SETTIMEOFDAY,
		"swapoff": unix.SYS_SWAPOFF, "swapon": unix.SYS_SWAPON, "syslog": unix.SYS_SYSLOG, "umount2": unix.SYS_UMOUNT2,
		"unshare": unix.SYS_UNSHARE, "userfaultfd": unix.SYS_USERFAULTFD, "vhangup": unix.SYS_VHANGUP,
	}
	for name, nr := range raw {
		_, _, errno := unix.Syscall6(nr, 0, 0, 0, 0, 0, 0)
		say(name, errno)
	}
	say("ptrace of PID 1", unix.PtraceSeize(1))
	say("chroot", unix.Chroot("/workspace"))
	say("block device", unix.Mknod("/workspace/b", unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0))))
	say("char device", unix.Mknod("/workspace/c", unix.S_IFCHR|0o600, int(unix.Mkdev(10, 229))))
	say("trusted attribute", unix.Setxattr("/workspace", "trusted.overlay.opaque", []byte("y"), 0))
	say("raise priority", unix.Setpriority(unix.PRIO_PROCESS, 0, -10))
	say("real time", unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: 1, Priority: 1}, 0))
	say("raise limit", unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 30}))
	for name, domain := range map[string][3]int{
		"packet socket": {unix.AF_PACKET, unix.SOCK_RAW, 0}, "raw socket": {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
	} {
		_, err := unix.Socket(domain[0], domain[1], domain[2])
		say(name, err)
	}
	for name, flag := range map[string]uintptr{
		"clone user": unix.CLONE_NEWUSER, "clone mounts": unix.CLONE_NEWNS, "clone pids": unix.CLONE_NEWPID,
		"clone network": unix.CLONE_NEWNET, "clone cgroup": unix.CLONE_NEWCGROUP,
	} {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flag}
		err := cmd.Run()
		if e, ok := err.(*os.PathError); ok {
			err = e.Err
		}
		say(name, err)
	}
	foreign()
	return nil
}

func say(name string, err error) {
	if errno, ok := err.(syscall.Errno); err == nil || ok && errno == 0 {
		fmt.Printf("%s: ok\n", name)
		return
	}
	fmt.Printf("%s: %v\n", name, err)
}
