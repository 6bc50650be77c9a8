package guest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// killCgroup kills every process in the cgroup and below it, forks in progress included (cgroup.kill, Linux 5.14).
func killCgroup(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
}

// endCgroup kills every process in the cgroup and waits until none is left.
func endCgroup(dir string) error {
	if err := killCgroup(dir); err != nil {
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if count(dir+"/cgroup.events", "populated") == 0 {
			return nil
		}
		if err := awaitEmpty(dir); err != nil {
			return err
		}
	}
	return errors.New("processes of the step cannot be killed")
}

// endChildren kills every process in the cgroups below dir, in which all of them are, and waits until none is left. The
// order is not given to dir itself: from Linux 6.13 on, whatever is forked later into a cgroup below one that was ordered
// killed dies too.
func endChildren(dir string) error {
	children, _ := filepath.Glob(dir + "/*/cgroup.kill")
	for _, c := range children {
		if err := endCgroup(filepath.Dir(c)); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) {
			return err
		}
	}
	return nil
}

// removeCgroup removes an emptied cgroup and its children. The kernel lets go of it only when the last killed process
// has been reaped, which cgroup.events tells by poll(2).
func removeCgroup(dir string) error {
	children, _ := filepath.Glob(dir + "/*/cgroup.procs")
	for _, c := range children {
		if err := removeCgroup(filepath.Dir(c)); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			return err
		}
		if err := awaitEmpty(dir); err != nil {
			return err
		}
	}
}

func awaitEmpty(dir string) error {
	f, err := os.Open(dir + "/cgroup.events")
	if err != nil {
		return err
	}
	defer f.Close()
	body := make([]byte, 256)
	n, _ := f.Read(body)
	if !bytes.Contains(body[:n], []byte("populated 1")) {
		// Empty but still busy: a child cgroup is being released.
		time.Sleep(time.Millisecond)
		return nil
	}
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLPRI}}, 1000)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}

// count reads one number of a flat-keyed cgroup file such as cgroup.events; 0 when it cannot.
func count(file, key string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	return numberOf(b, key)
}

func numberOf(flat []byte, key string) int {
	for line := range bytes.Lines(flat) {
		if k, v, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); ok && string(k) == key {
			n, _ := strconv.Atoi(string(v))
			return n
		}
	}
	return 0
}

// casualties are what the VM itself did to the commands of a world.
type casualties struct {
	mu            sync.Mutex
	oom, refused  gauge // kills for want of memory, and forks beyond the limit
	killed, forks int   // those that a look has seen
}

func (c *casualties) of(cgroup string) {
	c.oom = gauge{file: cgroup + "/memory.events", key: "oom_kill"}
	c.refused = gauge{file: cgroup + "/pids.events", key: "max"}
}

// look tells which numbers have grown since the last look.
func (c *casualties) look() (oom, pids bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	killed, _ := c.oom.read()
	forks, _ := c.refused.read()
	oom, pids = killed > c.killed, forks > c.forks
	c.killed, c.forks = killed, forks
	return oom, pids
}

// Close is for a world whose cgroup is gone.
func (c *casualties) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.oom.Close()
	c.refused.Close()
}

// blame is what the VM itself did to the world's commands since the last look, in one word, or "".
func (w *world) blame() string {
	oom, pids := w.casualties.look()
	switch {
	case oom:
		return "oom"
	case pids:
		return "pids"
	case w.diskFull():
		return "disk"
	}
	return ""
}
