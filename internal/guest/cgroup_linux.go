package guest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
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

// count reads one number of a flat-keyed cgroup file such as memory.events.
func count(file, key string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if k, v, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); ok && string(k) == key {
			n, _ := strconv.Atoi(string(v))
			return n
		}
	}
	return 0
}

// blame is what the VM itself did to the world's commands since the last look, in one word, or "".
func (w *world) blame() string {
	oom, pids := count(w.cgroup+"/memory.events", "oom_kill"), count(w.cgroup+"/pids.events", "max")
	w.mu.Lock()
	defer w.mu.Unlock()
	killed, refused := oom > w.oom, pids > w.pids
	w.oom, w.pids = oom, pids
	switch {
	case killed:
		return "oom"
	case refused:
		return "pids"
	case w.diskFull():
		return "disk"
	}
	return ""
}
