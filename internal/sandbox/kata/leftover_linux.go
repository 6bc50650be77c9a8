package kata

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// runtimeDirs are where the shim and Kata keep what belongs to one VM, as of Kata 2 and 3
// (https://github.com/kata-containers/kata-containers). The first lies beside containerd's socket.
var runtimeDirs = []string{
	"/run/containerd/io.containerd.runtime.v2.task/" + Namespace, "/run/vc/sbs", "/run/vc/vm", "/run/kata",
	"/run/kata-containers/shared/sandboxes",
}

// leftovers is an error that names what is left of a container after containerd has forgotten it: a shim, a hypervisor, a
// virtiofsd, or a directory of theirs.
func (p *Provider) leftovers(container string) error {
	if pid, name := processOf(container); pid != 0 {
		return fmt.Errorf("process %d (%s) is still there", pid, name)
	}
	if left := cgroupsOf(container); len(left) > 0 {
		return fmt.Errorf("cgroup %s is still there", left[0])
	}
	beside := filepath.Join(filepath.Dir(p.address()), "io.containerd.runtime.v2.task", Namespace)
	for _, dir := range append([]string{beside}, runtimeDirs...) {
		path := filepath.Join(dir, container)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is still there", path)
		}
	}
	return nil
}

// removeCgroups removes what a shim that was killed has left of the container's cgroups. No process of the container is
// there any more.
func removeCgroups(container string) error {
	for _, top := range cgroupsOf(container) {
		var dirs []string
		_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for _, dir := range slices.Backward(dirs) { // children first
			if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("cgroup %s is still there: %w", dir, err)
			}
		}
	}
	return nil
}

// cgroupsOf are a container's cgroups, in any hierarchy.
func cgroupsOf(container string) []string {
	var all []string
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		found, _ := filepath.Glob(pattern + container)
		all = append(all, found...)
	}
	return all
}

// processOf finds a process that has the container's name in its arguments, which no other has.
func processOf(container string) (pid int, name string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte(container)) {
			continue
		}
		n, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || n == os.Getpid() {
			continue
		}
		program, _, _ := bytes.Cut(line, []byte{0})
		return n, filepath.Base(string(program))
	}
	return 0, ""
}
