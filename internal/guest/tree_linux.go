package guest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// removeDepth is how deep removeTree descends: it holds a descriptor a level, and a workload can nest directories
// deeper than a process may have descriptors.
const removeDepth = 100

// removeTree removes a directory and all below it, however deep. What lies too deep is moved up beside it and removed
// in the next round.
func removeTree(dir string) error {
	parent, err := unix.Open(filepath.Dir(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	r := remover{parent: parent, prefix: filepath.Base(dir) + "~"} // no world's id has this character
	for names := []string{filepath.Base(dir)}; len(names) > 0; names = r.take() {
		for _, name := range names {
			if err := r.directory(parent, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
				return &os.PathError{Op: "remove", Path: dir, Err: err}
			}
		}
	}
	return nil
}

type remover struct {
	parent int
	prefix string
	moved  []string
	count  int
}

func (r *remover) take() []string {
	names := r.moved
	r.moved = nil
	return names
}

func (r *remover) directory(parent int, name string, depth int) error {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	// Names may be missed while others are removed: only a pass that finds nothing is the last.
	for found := true; found; {
		found = false
		if _, err := f.Seek(0, 0); err != nil {
			return err
		}
		for {
			names, err := f.Readdirnames(1024)
			if len(names) == 0 {
				break
			}
			found = true
			if err != nil {
				return err
			}
			for _, n := range names {
				if err := r.entry(fd, n, depth); err != nil {
					return err
				}
			}
		}
	}
	return unix.Unlinkat(parent, name, unix.AT_REMOVEDIR)
}

func (r *remover) entry(dir int, name string, depth int) error {
	giveBack(dir, name)
	err := unix.Unlinkat(dir, name, 0)
	switch {
	case !errors.Is(err, unix.EISDIR):
		return err
	case depth < removeDepth:
		return r.directory(dir, name, depth+1)
	}
	up := r.prefix + strconv.Itoa(r.count)
	r.count++
	r.moved = append(r.moved, up)
	return unix.Renameat(dir, name, r.parent, up)
}

// largeFile is what a file has at least, in bytes, to be emptied before it is removed.
const largeFile = 64 << 10

// giveBack empties a large file, whose room is free at once then. Removing alone may leave it taken for some milliseconds
// in which a step beside finds the disk full: while the kernel hands what a removed cgroup has written on to the one
// above, it holds on to the files (inode_switch_wbs in Linux's fs/fs-writeback.c). A file with another name stays as it
// is. Nothing hangs on it: what it cannot do, the removal does later.
func giveBack(dir int, name string) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil ||
		st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 || st.Blocks*512 < largeFile {
		return
	}
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	_ = unix.Ftruncate(fd, 0)
}
