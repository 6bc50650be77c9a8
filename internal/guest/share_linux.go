package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// most is how much of the VM's memory and of its disk one world may use when others may be open beside it: whatever it
// does, a quarter is left for them (docs/adr/0027-one-step-leaves-room-for-the-others.md).
func most(all int64) int64 { return all / 4 * 3 }

// mountScratch mounts the scratch disk so that the limits of its projects, one a world, are kept.
func mountScratch(device string) error {
	m := mount{device, dirScratch, "ext4", unix.MS_NODEV | unix.MS_NOSUID | unix.MS_NOATIME, "prjquota"}
	err := m.make()
	if errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("%w: the image has no module for disk quotas; build it again", err)
	}
	return err
}

// limitMemory bounds the world's memory and has all of the step ended when that runs out, not a process here and there.
func (w *world) limitMemory(alone bool) error {
	if err := os.WriteFile(w.cgroup+"/memory.oom.group", []byte("1"), 0); err != nil {
		return err
	}
	all, err := readNumber(dirSteps + "/memory.max")
	if err != nil || alone {
		return err
	}
	return os.WriteFile(w.cgroup+"/memory.max", strconv.AppendInt(nil, most(int64(all)), 10), 0)
}

// quotaWorks finds out by setting one whether the disk keeps limits of projects.
func quotaWorks() bool {
	w := &world{dir: filepath.Join(dirScratch, "probe")}
	defer os.RemoveAll(w.dir)
	return os.Mkdir(w.dir, 0o700) == nil && w.limitDisk(false) == nil
}

// projects numbers the worlds of a VM for the disk's quotas. No number comes twice; 0 is the guest's own.
var projects atomic.Uint32

// limitDisk makes the world's directory a project of the scratch disk: what is made below it belongs to it and is
// counted. Root is bound by the limit too, as long as it lacks CAP_SYS_RESOURCE; the guest itself is not.
func (w *world) limitDisk(alone bool) error {
	project := projects.Add(1)
	dir, err := os.Open(w.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	attr := fsxattr{xflags: xflagProjInherit, projid: project}
	if err := ioctl(dir, fsIocFSSetXattr, unsafe.Pointer(&attr)); err != nil { //nolint:gosec // ioctl(2) takes an address
		return fmt.Errorf("counting the step's files: %w", err)
	}
	bounded := w.ground != nil && w.ground.disk > 0
	if alone && !bounded {
		return nil
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dirScratch, &st); err != nil {
		return err
	}
	all := int64(st.Blocks) * st.Bsize
	if bounded {
		all = min(all, w.ground.disk)
	}
	if !alone { // else it has all, and df(1) says how much that is
		all = most(all)
	}
	limits := dqblk{
		blocks: uint64(all) / dqBlockSize,
		inodes: uint64(most(int64(st.Files))),
		valid:  dqLimits,
	}
	const set = qSetQuota<<8 | prjQuota
	_, _, errno := unix.Syscall6(unix.SYS_QUOTACTL_FD, dir.Fd(), set, uintptr(project), uintptr(unsafe.Pointer(&limits)), 0, 0) //nolint:gosec // quotactl(2) takes an address
	if errno != 0 {
		return fmt.Errorf("limiting the step's files: %w", errno)
	}
	return nil
}

func ioctl(f *os.File, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// Of linux/fs.h and linux/quota.h, which x/sys does not have.
const (
	fsIocSetFlags    = 0x40086602
	fsIocFSSetXattr  = 0x401c5820
	xflagProjInherit = 0x200
	qSetQuota        = 0x800008
	prjQuota         = 2
	dqBlockSize      = 1024
	dqLimits         = 1 | 4 // QIF_BLIMITS, QIF_ILIMITS
)

type fsxattr struct {
	xflags, extsize, nextents, projid, cowextsize uint32
	_                                             [8]byte
}

type dqblk struct {
	blocks, softBlocks, space, inodes, softInodes, usedInodes, blocksTime, inodesTime uint64
	valid                                                                             uint32
}

// diskFull reports whether the world's share of the scratch disk, or the disk, has no room left but for the odd block:
// statfs(2) of a project's directory tells of the project.
func (w *world) diskFull() bool {
	for _, dir := range []string{filepath.Join(w.dir, "workspace"), dirScratch} {
		var st unix.Statfs_t
		if unix.Statfs(dir, &st) == nil && (st.Bavail < 16 && freeOf(st) < 16 || st.Ffree == 0) {
			return true
		}
	}
	return false
}
