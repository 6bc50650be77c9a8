package e2btest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cgroup is a part of this host's second hierarchy of control groups that belongs to one machine: there its root may make
// groups and end what is in them, as in E2B's VMs.
type cgroup struct {
	path string
	dir  *os.File
}

// newCgroup makes one. It is nil where this process may not: the machine then has none.
func newCgroup() *cgroup {
	base := ownCgroup()
	if base == "" || os.Geteuid() != 0 {
		return nil
	}
	path, err := os.MkdirTemp(base, "joy-e2btest-*")
	if err != nil {
		return nil
	}
	c := &cgroup{path: path}
	for _, name := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		err = errors.Join(err, os.Chown(filepath.Join(path, name), firstID, firstID))
	}
	if err == nil {
		c.dir, err = os.Open(path)
	}
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	return c
}

// ownCgroup is the directory of the group that this process is in, or "".
func ownCgroup() string {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	own, _ := os.ReadFile("/proc/self/cgroup")
	at, group := "", ""
	for line := range bytes.Lines(mounts) {
		if f := strings.Fields(string(line)); len(f) > 2 && f[2] == "cgroup2" {
			at = f[1]
		}
	}
	for line := range bytes.Lines(own) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "0::"); ok {
			group = rest
		}
	}
	if at == "" {
		return ""
	}
	return filepath.Join(at, group)
}

// remove ends what is in the group and removes it with all below. The kernel lets go of a group a moment after its last
// process was reaped.
func (c *cgroup) remove() {
	if c == nil {
		return
	}
	c.dir.Close()
	_ = os.WriteFile(filepath.Join(c.path, "cgroup.kill"), []byte("1"), 0)
	for deadline := time.Now().Add(endPatience / 4); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		removeBelow(c.path)
		if err := unix.Rmdir(c.path); err == nil || errors.Is(err, unix.ENOENT) {
			return
		}
	}
}

func removeBelow(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			removeBelow(filepath.Join(dir, e.Name()))
			_ = unix.Rmdir(filepath.Join(dir, e.Name()))
		}
	}
}
