package connection

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long a server has to end by itself: after its input is closed, and after SIGTERM.
const grace = 2 * time.Second

// child is a server that joy started. It is the leader of a process group of its own, so that what it starts ends with
// it, and is killed by the kernel when joy dies.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *lines
	words  *tail
	home   string
	exited chan struct{} // closed when reaped
	status error
	ending sync.Once
}

// spawn starts the server of cfg, confined unless its Config says why not.
func spawn(cfg Config) (*child, error) {
	home, err := os.MkdirTemp("", "joy-connection-*")
	if err != nil {
		return nil, err
	}
	c := &child{home: home, words: &tail{}, exited: make(chan struct{})}
	path, err := lookUp(cfg)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	c.cmd = &exec.Cmd{
		Path: path, Args: cfg.Argv, Dir: cfg.Dir, Env: environment(cfg, home), Stderr: c.words,
		SysProcAttr: group(), WaitDelay: time.Second,
	}
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	c.cmd.Stdout = theirs
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, errors.Join(err, stdout.Close(), theirs.Close(), os.RemoveAll(home))
	}
	c.lines = newLines(stdout, c.words)
	if err := shutOnExec(); err != nil {
		return nil, errors.Join(err, stdout.Close(), theirs.Close(), os.RemoveAll(home))
	}
	started := make(chan error)
	own(func() {
		err := c.start(cfg, path)
		started <- err
		if err == nil {
			c.status = c.cmd.Wait()
			close(c.exited)
		}
	})
	err = <-started
	theirs.Close()
	if err != nil {
		return nil, errors.Join(err, stdout.Close(), os.RemoveAll(home))
	}
	return c, nil
}

// start runs on the thread whose rights become the child's.
func (c *child) start(cfg Config, program string) error {
	if cfg.Unconfined == "" {
		if err := confine(cfg, program, c.home); err != nil {
			return err
		}
	}
	return c.cmd.Start()
}

// lookUp finds the program, on the child's PATH and not on joy's. A name with a slash is relative to the project.
func lookUp(cfg Config) (string, error) {
	return find(cfg.Argv[0], cfg.Dir, searchPath(cfg))
}

// transport is the child's input and output. The lines are already bounded.
func (c *child) transport() mcp.Transport {
	return &mcp.IOTransport{Reader: c.lines, Writer: c.stdin, MaxLineLength: MaxMessage + 1}
}

// reason is why the child is of no use any more, when it is known better than by the protocol.
func (c *child) reason() error {
	if err := c.lines.failure(); err != nil {
		return err
	}
	select {
	case <-c.exited:
	case <-c.lines.over:
		// Its output ends a little before it is reaped, and on a busy machine more than a little.
		select {
		case <-c.exited:
		case <-time.After(grace):
			return nil
		}
	case <-time.After(250 * time.Millisecond): // what broke may be its input alone, so far
		return nil
	}
	if c.status == nil {
		return errors.New("it ended")
	}
	return fmt.Errorf("it ended: %w", c.status)
}

// last is the end of what it wrote to stderr, and of what it wrote to stdout that was no message.
func (c *child) last() []byte { return c.words.last() }

// hangUp asks the server to end: its input is over.
func (c *child) hangUp() { c.stdin.Close() }

// end waits for the server to end, helps it after a while, and leaves nothing of its group.
func (c *child) end() {
	c.ending.Do(func() {
		for _, kill := range []bool{false, true} {
			select {
			case <-c.exited:
			case <-time.After(grace):
			}
			endGroup(c.cmd.Process, kill) // its children, when it has ended
		}
		<-c.exited
		c.lines.Close()
		_ = os.RemoveAll(c.home)
	})
}
