package guest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// maxKits bounds the kits that a world keeps for its next commands.
const maxKits = 16

// kit is what a command needs before it can be forked: a cgroup of its own and its standard streams. Making a cgroup
// costs as much as a fork, so one that its command has left empty serves the next command.
type kit struct {
	cgroup string
	dir    *os.File // the cgroup, opened
	living gauge    // 1 while a process is in it
	in     pipe
	out    pipes
	round  int // of the kits when it was taken
}

// kits are those of one world that are ready.
type kits struct {
	parent string // cgroup of the world
	far    bool   // see far
	making sync.RWMutex
	closed bool // guarded by making
	mu     sync.Mutex
	made   int
	ready  []*kit
	round  int // grows when all cgroups are ordered killed
}

// take is a kit that is ready, or a new one. The caller gives it back.
func (ks *kits) take() (*kit, error) {
	ks.making.RLock()
	defer ks.making.RUnlock()
	if ks.closed {
		return nil, errors.New("the world has ended")
	}
	ks.mu.Lock()
	if n := len(ks.ready); n > 0 {
		k := ks.ready[n-1]
		ks.ready = ks.ready[:n-1]
		ks.mu.Unlock()
		return k, nil
	}
	ks.made++
	name, round := strconv.Itoa(ks.made), ks.round
	ks.mu.Unlock()
	k, err := newKit(filepath.Join(ks.parent, name), ks.far)
	if err == nil {
		k.round = round
	}
	return k, err
}

// prepare makes the kit of the first command, while the host is still on its way to it.
func (ks *kits) prepare() {
	k, err := ks.take()
	if err != nil {
		return // the command will say it
	}
	ks.give(k, false)
}

// give makes a used kit ready again. One whose command has left processes, or was ordered killed, is not used again:
// the kill might come late and hit another command.
func (ks *kits) give(k *kit, killed bool) {
	k.in.Close()
	k.out.Close()
	if living, ok := k.living.read(); ok && living == 0 && !killed && ks.renew(k) {
		return
	}
	k.Close()
}

func (ks *kits) renew(k *kit) bool {
	ks.making.RLock()
	defer ks.making.RUnlock()
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if ks.closed || k.round != ks.round || len(ks.ready) >= maxKits {
		return false
	}
	in, out, err := newStdio(ks.far)
	if err != nil {
		return false
	}
	k.in, k.out = in, out
	ks.ready = append(ks.ready, k)
	return true
}

// drop closes the kits that are ready and has none of those in use come back: their cgroups are about to be ordered
// killed.
func (ks *kits) drop() {
	ks.making.RLock()
	defer ks.making.RUnlock()
	ks.mu.Lock()
	ready := ks.ready
	ks.ready = nil
	ks.round++
	ks.mu.Unlock()
	for _, k := range ready {
		k.Close()
	}
}

// Close waits for kits being made and closes those that are ready. The world removes their cgroups with its own.
func (ks *kits) Close() {
	ks.making.Lock()
	defer ks.making.Unlock()
	ks.closed = true
	for _, k := range ks.ready {
		k.shut()
	}
	ks.ready = nil
}

func newKit(cgroup string, far bool) (k *kit, err error) {
	k = &kit{cgroup: cgroup, living: gauge{file: cgroup + "/cgroup.events", key: "populated"}}
	if err := os.Mkdir(cgroup, 0o755); err != nil {
		return nil, err
	}
	if k.dir, err = os.Open(cgroup); err != nil {
		return nil, err
	}
	if k.in, k.out, err = newStdio(far); err != nil {
		return nil, errors.Join(err, k.dir.Close())
	}
	return k, nil
}

// Close closes what is still open and removes the cgroup, unless processes of the command live on: then the world's
// end removes it.
func (k *kit) Close() {
	k.shut()
	_ = unix.Rmdir(k.cgroup)
}

func (k *kit) shut() {
	k.dir.Close()
	k.living.Close()
	k.in.Close()
	k.out.Close()
}
