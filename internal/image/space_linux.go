package image

import (
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
)

// spaceNeed is how many bytes will be used below a directory that exists.
type spaceNeed struct {
	dir   string
	bytes uint64
}

// checkSpace finds out beforehand whether the disks have room. Directories on one file system share what is free there.
func checkSpace(doing string, needs []spaceNeed) error {
	total := map[uint64]uint64{} // by device
	for _, n := range needs {
		var st unix.Stat_t
		var fs unix.Statfs_t
		err := unix.Stat(n.dir, &st)
		if err == nil {
			err = unix.Statfs(n.dir, &fs)
		}
		if err != nil {
			return fault.Wrap(fault.Platform, err, "look at the free space of %s", n.dir)
		}
		dev := uint64(st.Dev) //nolint:unconvert // int32 on some systems
		total[dev] += n.bytes
		if free := fs.Bavail * uint64(fs.Bsize); free < total[dev] {
			return fault.New(fault.Platform, "%s takes %d MiB below %s, which has %d MiB free", doing, total[dev]>>20, n.dir, free>>20).
				WithHint("free some space, or set XDG_CACHE_HOME or TMPDIR to a directory on another disk")
		}
	}
	return nil
}
