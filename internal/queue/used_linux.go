package queue

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// rest is what a VM that runs may still come to use: its need without what it uses already, which the machine no longer
// counts as free. What cannot be seen counts as unused, so that a promise is rather held twice than broken.
func (t ticket) rest() Need {
	n := Need{Memory: t.Need.Memory + Overhead, Disk: t.Need.Disk}
	if !t.Holder.Alive() { // locked, but not in this PID namespace
		return n
	}
	for _, pid := range descendants(t.Holder.PID, 0) {
		n.Memory -= anonymous(pid)
		n.Disk -= unnamed(pid)
	}
	return Need{Memory: max(n.Memory, 0), Disk: max(n.Disk, 0)}
}

// maxDepth bounds the walk down a tree of processes: joy, what confines QEMU, QEMU.
const maxDepth = 4

// descendants are the children of a process and theirs (proc(5), /proc/PID/task/TID/children).
func descendants(pid, depth int) (pids []int) {
	if depth == maxDepth {
		return nil
	}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		b, _ := os.ReadFile(file) // a thread that has ended has no children
		for _, field := range bytes.Fields(b) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(append(pids, child), descendants(child, depth+1)...)
			}
		}
	}
	return pids
}

// anonymous is the memory of a process that is in no file, in bytes: pages of files can be dropped and count as free.
func anonymous(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var sum int64
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "RssAnon" && name != "RssShmem" {
			continue
		}
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		sum += kib << 10
	}
	return sum
}

// unnamed is the disk space of the files without a name that a process has open: a VM's scratch disk.
func unnamed(pid int) int64 {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(dir) // another user's by now, when QEMU was dropped to it
	seen := map[uint64]bool{}
	var sum int64
	for _, fd := range fds {
		info, err := os.Stat(filepath.Join(dir, fd.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink == 0 && !seen[st.Ino] {
			seen[st.Ino] = true
			sum += st.Blocks * 512
		}
	}
	return sum
}
