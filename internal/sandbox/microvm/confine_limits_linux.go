package microvm

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// bound sets the limits of a QEMU that has been started, or leaves what is lower already. It needs a thread that ends
// with it, and not the one that QEMU's rights come from.
//
// For a process of another uid prlimit(2) asks for CAP_SYS_RESOURCE, which root in a container seldom has, or for a caller
// whose real ids are the process's: the thread's are, from here on.
func (h *hold) bound(pid int) {
	if h.uid >= 0 {
		if err := errors.Join(realID(unix.SYS_SETRESGID, h.uid), realID(unix.SYS_SETRESUID, h.uid)); err != nil {
			h.lacks("limits", err)
		}
	}
	for _, l := range h.rlimits() {
		var was unix.Rlimit
		err := unix.Prlimit(pid, l.resource, nil, &was)
		if err == nil {
			value := min(l.value, was.Max)
			err = unix.Prlimit(pid, l.resource, &unix.Rlimit{Cur: value, Max: value}, nil)
		}
		if err != nil {
			h.lacks(l.name, err)
		}
	}
}

// realID sets the real id of the calling thread alone: what package unix has for it sets that of every thread, and joy
// with what it starts later would be the user that QEMU is.
func realID(call uintptr, id int) error {
	if _, _, errno := unix.RawSyscall(call, uintptr(id), ^uintptr(0), ^uintptr(0)); errno != 0 {
		return errno
	}
	return nil
}

// goFirst makes QEMU what the kernel kills first when the host runs out of memory: a run can be begun again.
func (h *hold) goFirst(pid int) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0); err != nil {
		h.lacks("oom_score_adj", err)
	}
}

type rlimit struct {
	name     string // in /proc/PID/limits
	resource int
	value    uint64
}

func (h *hold) rlimits() []rlimit {
	const (
		gib = 1 << 30
		// What an emulated VM had besides its memory: 1.2 GiB, of which 1 GiB for translated code.
		overhead = 3 * gib
	)
	memory := uint64(max(h.memory, 0))
	all := []rlimit{
		// One byte and not none: a handler in core_pattern gets the dump at none, and the VM's memory with it
		// (core(5); fs/coredump.c takes 1 for "by no means").
		{"Max core file size", unix.RLIMIT_CORE, 1},
		{"Max open files", unix.RLIMIT_NOFILE, 256},
		{"Max file size", unix.RLIMIT_FSIZE, max(uint64(max(h.disk, 0)), memory+gib)},
		{"Max data size", unix.RLIMIT_DATA, memory + overhead},
		{"Max locked memory", unix.RLIMIT_MEMLOCK, 0},
		{"Max msgqueue size", unix.RLIMIT_MSGQUEUE, 0},
		{"Max realtime priority", unix.RLIMIT_RTPRIO, 0},
	}
	// It counts all threads of a uid, of which a user has others; in a user namespace it does not since Linux 5.14.
	if h.uid >= 0 || h.landlock >= sinceLinux519 && slices.Contains(h.namespaces, "user") {
		all = append(all, rlimit{"Max processes", unix.RLIMIT_NPROC, 512})
	}
	return all
}
