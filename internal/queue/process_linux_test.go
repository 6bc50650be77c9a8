package queue

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait for another process.
const patience = 3 * time.Minute

// part is what a process of a test is told to do.
type part struct {
	Dir, Run string
	Need     Need
	MaxVMs   int
	Room     Room
	Crowd    string // a directory in which those inside leave a file each; "": stay inside until stdin ends
}

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv("QUEUE_PART"); ok {
		if err := play(text, os.Stdout); err != nil {
			fmt.Fprintln(os.Stdout, "error:", err)
		}
		return
	}
	m.Run()
}

func play(text string, out io.Writer) error {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	q := &Queue{Dir: p.Dir, MaxVMs: p.MaxVMs, Measure: fixed(p.Room)}
	leave, err := q.Enter(context.Background(), p.Run, p.Need, func(why string) { fmt.Fprintln(out, "waiting:", why) })
	if err != nil {
		return err
	}
	defer leave()
	fmt.Fprintln(out, "in")
	if p.Crowd == "" {
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}
	mine := filepath.Join(p.Crowd, p.Run)
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		return err
	}
	inside, err := os.ReadDir(p.Crowd)
	if len(inside) > p.MaxVMs || err != nil {
		return fmt.Errorf("%d are inside at once (%w)", len(inside), err)
	}
	return os.Remove(mine)
}

// player is a process that stands in the queue.
type player struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string
}

func start(t *testing.T, p part) *player {
	t.Helper()
	text, err := json.Marshal(p)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "QUEUE_PART="+string(text))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	pl := &player{t, cmd, stdin, make(chan string, 10)}
	go func() {
		defer close(pl.lines)
		for r := bufio.NewReader(stdout); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			pl.lines <- strings.TrimSpace(line)
		}
	}()
	return pl
}

// says is the next line of the process.
func (p *player) says() string {
	p.t.Helper()
	select {
	case line := <-p.lines:
		return line
	case <-time.After(patience):
		require.Fail(p.t, "it says nothing")
		return ""
	}
}

func (p *player) silent() {
	p.t.Helper()
	select {
	case line := <-p.lines:
		require.Fail(p.t, "it goes on", line)
	case <-time.After(3 * poll):
	}
}

func (p *player) end() {
	p.t.Helper()
	require.NoError(p.t, p.stdin.Close())
	for line := range p.lines {
		require.Fail(p.t, "it goes on", line)
	}
	require.NoError(p.t, p.cmd.Wait())
}

func (p *player) kill() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Kill())
	for range p.lines { // until its end, so that Wait takes nothing from the reader
	}
	_ = p.cmd.Wait() // its status is "killed"
}

func TestFirstComeFirstServed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "queue")
	in := func(run string) *player { return start(t, part{Dir: dir, Run: run, MaxVMs: 1, Room: room(9000, 9000)}) }
	a := in("a")
	require.Equal(t, "in", a.says())
	b := in("b")
	require.Equal(t, "waiting: 1 VM runs, and the setting max_vms is 1", b.says())
	c := in("c")
	require.Contains(t, c.says(), "waiting")
	d := in("d")
	require.Contains(t, d.says(), "waiting")
	c.kill() // who waits and dies holds nobody up
	a.end()
	require.Equal(t, "in", b.says())
	d.silent()
	b.kill() // nor does who runs and dies
	require.Equal(t, "in", d.says())
	d.end()
	left, err := filepath.Glob(filepath.Join(dir, "*.vm"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWaitingForMemoryAndDisk(t *testing.T) {
	for what, need := range map[string]Need{"memory": {Memory: 600 * mib}, "disk": {Disk: 600 * mib}} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			a := start(t, part{Dir: dir, Run: "a", Need: need, Room: room(1000, 1000)})
			require.Equal(t, "in", a.says())
			b := start(t, part{Dir: dir, Run: "b", Need: need, Room: room(1000, 1000)})
			require.Regexp(t, `waiting: its VM needs \d+ MiB of `+what, b.says())
			small := start(t, part{Dir: dir, Run: "c", Room: room(1000, 1000)})
			require.Equal(t, "waiting: 1 came before and wait for a VM", small.says(), "it would fit, and does not push in")
			a.kill()
			require.Equal(t, "in", b.says())
			require.Equal(t, "in", small.says())
			b.end()
			small.end()
		})
	}
}

func TestNeverMoreThanThereIsRoomFor(t *testing.T) {
	dir, crowd := t.TempDir(), t.TempDir()
	var all sync.WaitGroup
	for i := range 12 {
		p := start(t, part{Dir: dir, Run: fmt.Sprintf("r%d", i), MaxVMs: 2, Room: room(9000, 9000), Crowd: crowd})
		all.Go(func() {
			for line := range p.lines { // until the process has ended
				if strings.HasPrefix(line, "error:") {
					t.Errorf("%s", line)
				}
			}
			_ = p.cmd.Wait()
		})
	}
	all.Wait()
}
