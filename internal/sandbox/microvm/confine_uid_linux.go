package microvm

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Uids of VMs begin where no convention puts users, services or containers
// (https://systemd.io/UIDS-GIDS/: 1879048192 to 2147352575 are unused). A joy has 32 of them, by its pid: with one of its
// own no VM can signal, trace or read another, nor anything else of the host.
const (
	firstUID   = 1879048192
	uidsPerJoy = 32
	nobody     = 65534 // where joy is root among few ids, as in a container without root
)

var started atomic.Uint32 // VMs of this joy

// chooseUID gives QEMU a uid and a gid of the same number. joy needs the capabilities for it, and the one to kill what
// has another uid.
func (h *hold) chooseUID() {
	if err := capable(unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL); err != nil {
		h.lacks("own uid", err)
		return
	}
	n := int(started.Add(1))
	for _, id := range []int{firstUID + os.Getpid()%(1<<22)*uidsPerJoy + n%uidsPerJoy, nobody} {
		if mapped("/proc/self/uid_map", id) && mapped("/proc/self/gid_map", id) {
			h.uid = id
			h.groups = h.kvmGroups()
			return
		}
	}
	h.lacks("own uid", errors.New("none is mapped in joy's user namespace"))
}

// kvmGroups is the group that may open /dev/kvm, where a group may and not everybody. It is never root's.
func (h *hold) kvmGroups() []uint32 {
	var st unix.Stat_t
	if !h.kvm || unix.Stat("/dev/kvm", &st) != nil || st.Mode&0o006 == 0o006 || st.Mode&0o060 != 0o060 || st.Gid == 0 {
		return nil
	}
	return []uint32{st.Gid}
}

// opensKVM reports whether QEMU's uid and groups may open /dev/kvm.
func (h *hold) opensKVM() bool {
	var st unix.Stat_t
	return unix.Stat("/dev/kvm", &st) == nil && (st.Mode&0o006 == 0o006 || len(h.groups) > 0)
}

func capable(caps ...uint) error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	for _, c := range caps {
		if data[c/32].Effective&(1<<(c%32)) == 0 {
			return fmt.Errorf("joy is root without capability %d", c)
		}
	}
	return nil
}

// mapped reports whether an id means something in joy's user namespace (user_namespaces(7)).
func mapped(file string, id int) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	for {
		var inside, outside, count int
		if _, err := fmt.Fscan(f, &inside, &outside, &count); err != nil {
			return false
		}
		if id >= inside && id-inside < count {
			return true
		}
	}
}
