package queue

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Measure tells what this machine has for VMs whose scratch disks are in the directory scratch. Memory is the machine's
// or that of the cgroups joy is in, whichever is less.
func Measure(scratch string) (Room, error) { return measure(scratch, os.ReadFile) }

// measure reads the kernel's files through read, so that a test can be any machine.
func measure(scratch string, read func(string) ([]byte, error)) (Room, error) {
	var room Room
	info, err := table(read, "/proc/meminfo")
	if err != nil {
		return room, err
	}
	room.MemoryTotal, room.MemoryFree = info["MemTotal"]<<10, info["MemAvailable"]<<10
	if room.MemoryTotal == 0 {
		return room, errors.New("/proc/meminfo does not say how much memory there is")
	}
	groups, _ := read("/proc/self/cgroup") // a kernel without cgroups limits nothing
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		g := group{read: read}
		switch {
		case parts[0] == "0" && parts[1] == "":
			g.root, g.limit, g.used, g.cache = "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		case parts[1] == "memory":
			g.root, g.limit, g.used, g.cache = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		default:
			continue
		}
		g.narrow(parts[2], &room)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(scratch, &st); err != nil {
		return room, fmt.Errorf("the directory of scratch disks %s: %w", scratch, err)
	}
	block := uint64(st.Bsize)
	room.DiskTotal, room.DiskFree = bounded(st.Blocks, block), bounded(st.Bavail, block)
	return room, nil
}

// bounded is blocks in bytes; file systems that know no end say so with the largest numbers.
func bounded(blocks, size uint64) int64 {
	if size != 0 && blocks > math.MaxInt64/size {
		return math.MaxInt64
	}
	return int64(blocks * size)
}

// group reads the memory limits of cgroups: version 2, or the memory controller of version 1.
// https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files
type group struct {
	read                     func(string) ([]byte, error)
	root, limit, used, cache string
}

// narrow lowers room to what a cgroup and those above it allow. In a container the path may be the host's: what is not
// there below the root limits nothing, and the root is looked at in any case.
func (g group) narrow(path string, room *Room) {
	for dir := filepath.Join("/", path); ; dir = filepath.Dir(dir) {
		at := filepath.Join(g.root, dir)
		limit, ok := g.number(filepath.Join(at, g.limit))
		if used, known := g.number(filepath.Join(at, g.used)); ok && known {
			stat, _ := table(g.read, filepath.Join(at, "memory.stat"))
			room.MemoryTotal = min(room.MemoryTotal, limit)
			room.MemoryFree = min(room.MemoryFree, max(limit-used+stat[g.cache], 0))
		}
		if dir == "/" {
			return
		}
	}
}

// number is a file that holds one; "max" is none.
func (g group) number(file string) (int64, bool) {
	b, err := g.read(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// table reads lines of a name and a number, as /proc/meminfo and memory.stat have them.
func table(read func(string) ([]byte, error), file string) (map[string]int64, error) {
	b, err := read(file)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			out[strings.TrimSuffix(fields[0], ":")] = n
		}
	}
	return out, nil
}
