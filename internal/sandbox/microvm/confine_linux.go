package microvm

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/thread"
)

// limits is what a QEMU may use of the host besides CPU time.
type limits struct {
	memory int64 // bytes of the VM's memory
	disk   int64 // bytes of the largest file it may write
	kvm    bool  // it opens /dev/kvm
}

// hold is what keeps one QEMU from everything but its VM (docs/sandbox.md, "What holds QEMU"). It is decided before the
// start, put on with it, and then read back from the kernel: only what was read back is claimed.
//
// Most of it is the attributes of the thread that starts QEMU, which a child inherits. The thread is used for nothing
// else and ends with QEMU: what was given up does not come back.
type hold struct {
	limits
	root       bool     // joy is root
	uid        int      // of QEMU alone; -1: joy's own
	groups     []uint32 // with uid: nothing but what /dev/kvm asks for
	namespaces []string // names in /proc/PID/ns that differ from joy's
	landlock   int      // version of the interface; 0: none
	filters    int      // seccomp filters on the thread; QEMU adds its own
	given      []fileID
	missing    []string // in words, with the reason
}

// fileID names an open file, whichever descriptor it is open by.
type fileID struct{ dev, ino uint64 }

// newHold decides what is to hold a QEMU that is given files.
func newHold(l limits, files []*os.File) (*hold, error) {
	h := &hold{limits: l, root: os.Geteuid() == 0, uid: -1}
	if h.root {
		h.chooseUID()
	}
	for _, f := range files {
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			return nil, fmt.Errorf("looking at %s: %w", f.Name(), err)
		}
		h.given = append(h.given, fileID{st.Dev, st.Ino})
	}
	return h, nil
}

func (h *hold) lacks(what string, err error) {
	h.missing = append(h.missing, fmt.Sprintf("%s: %v", what, err))
}

// restrict takes from the calling thread, for good, what QEMU must not have. program may be started afterwards, and
// files may be opened again by their descriptors' paths.
func (h *hold) restrict(program string, files []*os.File) {
	// Read before Landlock closes /proc; kernels before 5.9 do not count.
	if status, err := readStatus("/proc/thread-self/status"); err == nil {
		h.filters, _ = strconv.Atoi(status["Seccomp_filters"])
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		h.lacks("no_new_privs", err)
		return // nothing below can be had without it
	}
	if err := thread.DropCapabilities(h.root); err != nil {
		h.lacks("capabilities", err)
	}
	if err := h.restrictPaths(program, files); err != nil {
		h.lacks("landlock", err)
	}
	if err := denyCalls(); err != nil {
		h.lacks("seccomp", err)
		return
	}
	h.filters++
}

// attributes are those of the new process. namespaces says whether it gets its own.
//
// As root they are made without a user namespace, in which the set of capabilities that can be had at all would be whole
// again. A user needs one. It gets no mapping: there is no id in it that anything could change to, and because nobody is
// root in it the capabilities that its first process begins with are gone when QEMU is executed (user_namespaces(7)).
func (h *hold) attributes(namespaces bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Pdeathsig: unix.SIGKILL,
		Setpgid:   true, // Ctrl-C at the terminal is joy's to handle
	}
	if h.uid >= 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(h.uid), Gid: uint32(h.uid), Groups: h.groups}
	}
	h.namespaces = nil
	if !namespaces {
		return attr
	}
	for _, ns := range []struct {
		name string
		flag uintptr
	}{
		{"user", unix.CLONE_NEWUSER},
		{"net", unix.CLONE_NEWNET},
		{"ipc", unix.CLONE_NEWIPC},
		{"uts", unix.CLONE_NEWUTS},
		{"mnt", unix.CLONE_NEWNS},
		{"pid", unix.CLONE_NEWPID},
		{"cgroup", unix.CLONE_NEWCGROUP},
	} {
		if ns.name == "user" && h.root {
			continue
		}
		attr.Cloneflags |= ns.flag
		h.namespaces = append(h.namespaces, ns.name)
	}
	return attr
}

// noNamespaces reports whether a start failed in a way that hosts have of refusing namespaces (clone(2)).
func noNamespaces(err error) bool {
	for _, e := range []error{unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOSPC, unix.EUSERS, unix.ENOSYS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
