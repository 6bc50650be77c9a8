package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ballast is the file that has what the plan does not give of a disk. No world sees it.
const ballast = dirScratch + "/ballast"

// keepsBack are the file systems on which fallocate(2) takes room without writing it.
var keepsBack = map[int64]bool{unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true}

// boundDisk leaves free of a larger disk what was asked for, all worlds together, as if the disk were that small. What
// there is less is found.
func (b *booted) boundDisk(want int64) error {
	if want <= 0 || b.device != "" { // that was made for the plan
		return nil
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dirScratch, &st); err != nil {
		return fmt.Errorf("looking at the disk: %w", err)
	}
	free := freeOf(st) * st.Bsize
	b.disk = min(free, want)
	b.found.Disk = b.disk
	if free <= want {
		return nil
	}
	if !b.beside { // it is memory
		return unix.Mount("", dirScratch, "", unix.MS_REMOUNT|unix.MS_NODEV|unix.MS_NOSUID, fmt.Sprintf("size=%d", want))
	}
	err := errors.New("its kind keeps none back")
	if keepsBack[st.Type] {
		err = keepBack(free - want)
	}
	if err != nil {
		b.lacks(fmt.Sprintf("of the disk steps may fill %d MiB, and not the plan's %d alone (%v)", free>>20, want>>20, err))
	}
	return nil
}

// freeOf is how many blocks of the scratch disk root can fill: those kept for root, and not those that ext4 keeps for its own
// needs (https://docs.kernel.org/admin-guide/ext4.html, reserved_clusters).
func freeOf(st unix.Statfs_t) int64 {
	free := int64(st.Bfree)
	if st.Type == unix.EXT4_SUPER_MAGIC {
		free -= ext4Keeps(st)
	}
	return max(free, 0)
}

// ext4Keeps is what the kernel says, or about as much where there is no sysfs: it counts what statfs(2) leaves out as well.
func ext4Keeps(st unix.Statfs_t) int64 {
	var of unix.Stat_t
	if unix.Stat(dirScratch, &of) == nil {
		device, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(of.Dev), unix.Minor(of.Dev)))
		if n, errKept := readNumber("/sys/fs/ext4/" + filepath.Base(device) + "/reserved_clusters"); errors.Join(err, errKept) == nil {
			return int64(n)
		}
	}
	return min(int64(st.Blocks)/50, 4096)
}

func keepBack(size int64) error {
	f, err := os.OpenFile(ballast, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(unix.Fallocate(int(f.Fd()), 0, 0, size), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(ballast))
	}
	return err
}
