package guest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// kit is what a command needs before it can be forked: a cgroup of its own and its standard streams. The next one is
// made while the last command still runs, so that a command does not wait for it.
type kit struct {
	cgroup string
	dir    *os.File // the cgroup, opened
	in     pipe
	out    pipes
}

// makeKits keeps one kit ready until the world ends. An error is handed to the command that wanted the kit.
func (w *world) makeKits() {
	for n := 1; ; n++ {
		k, err := newKit(filepath.Join(w.cgroup, strconv.Itoa(n)))
		select {
		case w.kits <- kitOrError{k, err}:
		case <-w.gone:
			if err == nil {
				k.Close()
			}
			return
		}
	}
}

type kitOrError struct {
	*kit
	err error
}

// takeKit is the kit that is ready. The caller closes it.
func (w *world) takeKit() (*kit, error) {
	select {
	case k := <-w.kits:
		return k.kit, k.err
	case <-w.gone:
		return nil, errors.New("the world has ended")
	}
}

func newKit(cgroup string) (k *kit, err error) {
	k = &kit{cgroup: cgroup}
	if err := os.Mkdir(cgroup, 0o755); err != nil {
		return nil, err
	}
	if k.dir, err = os.Open(cgroup); err != nil {
		return nil, err
	}
	if k.in, k.out, err = newStdio(); err != nil {
		return nil, errors.Join(err, k.dir.Close())
	}
	return k, nil
}

// Close closes what is still open and removes the cgroup, unless processes of the command live on: then the world's
// end removes it.
func (k *kit) Close() {
	k.dir.Close()
	k.in.Close()
	k.out.Close()
	_ = unix.Rmdir(k.cgroup)
}
