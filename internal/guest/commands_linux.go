package guest

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// commands are those of one world that run, and those that were killed before they began: the request to run and the
// request to kill come on streams of their own, in any order.
type commands struct {
	mu      sync.Mutex
	running map[int]*command
	killed  map[int]bool
}

type command struct {
	cgroup string
	ended  chan struct{}
	killed bool // a kill was ordered
}

var errKilled = errors.New("killed before it began")

func (c *commands) begin(id int, cgroup string) (*command, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed[id] {
		delete(c.killed, id)
		return nil, errKilled
	}
	if c.running == nil {
		c.running = map[int]*command{}
	}
	cmd := &command{cgroup: cgroup, ended: make(chan struct{})}
	c.running[id] = cmd
	return cmd, nil
}

// end may be called more than once. It says whether a kill was ordered; from now on none can be.
func (c *commands) end(id int, cmd *command) (killed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[id] == cmd {
		delete(c.running, id)
		close(cmd.ended)
	}
	return cmd.killed
}

// kill ends one command and everything it started, and returns when that is done. The cgroup may still be empty when
// the order comes, and a process forked into it afterwards would live: the order is given until the command has ended.
func (c *commands) kill(id int) error {
	c.mu.Lock()
	cmd := c.running[id]
	if cmd != nil {
		cmd.killed = true
	} else {
		if c.killed == nil {
			c.killed = map[int]bool{}
		}
		c.killed[id] = true // harmless when it has ended: no id comes twice
	}
	c.mu.Unlock()
	if cmd == nil {
		return nil
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	for {
		if err := killCgroupIfThere(cmd.cgroup); err != nil {
			return err
		}
		select {
		case <-cmd.ended:
			// It may have ended by itself and left children since the last order; and an order is given, not obeyed at once.
			if err := endCgroup(cmd.cgroup); !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) {
				return err
			}
			return nil
		case <-again.C:
		case <-limit.C:
			return errors.New("the command cannot be killed")
		}
	}
}

func killCgroupIfThere(dir string) error {
	if err := killCgroup(dir); !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) {
		return err
	}
	return nil
}
