//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
)

// talking is an agent of one step that talks for two seconds, so that there is a middle of it.
func talking() map[string]string {
	return map[string]string{
		"joy.yaml":   "version: 1\nname: talking\nimage: tiny\nskills: [s]\npolicy: {cpus: 1, memory: 256MiB, disk: 256MiB}\nsteps: [{id: s, skill: s}]\n",
		"s/SKILL.md": "---\nname: s\ndescription: Talks.\nmetadata: {joy.entry: run.sh}\n---\n",
		"s/run.sh":   talker,
	}
}

// breakdown is what goes wrong with containerd, and what joy run makes of it.
type breakdown struct {
	env     string                                   // of joy
	before  func(*testing.T, *cluster) (undo func()) // joy is started
	midStep func(*testing.T, *cluster, *process, entry)
	code    int
	kind    string // of the failure; "" is none
	says    string // on stderr
}

func nothing() {}

var breakdowns = map[string]breakdown{
	"nothing": {},
	"containerd is down": {before: func(t *testing.T, c *cluster) func() {
		c.Down(t)
		return func() { c.Up(t) }
	}, code: 6, kind: "platform", says: "systemctl start containerd"},
	"the socket is missing":      {env: "JOY_CONTAINERD=/run/joy-absent.sock", code: 6, kind: "platform", says: "systemctl start containerd"},
	"the handler is missing":     {env: "JOY_KATA_RUNTIME=io.containerd.kata-absent.v2", code: 6, kind: "platform", says: "docs/kata.md"},
	"the image is missing":       {before: func(t *testing.T, c *cluster) func() { return c.WithoutImages(t) }, code: 6, kind: "platform", says: "joy image export"},
	"the image is another":       {before: func(t *testing.T, c *cluster) func() { return c.WithOther(t) }, code: 6, kind: "platform", says: "joy build --update image"},
	"a runtime that makes no VM": {env: "JOY_KATA_RUNTIME=io.containerd.crun.v2", code: 5, kind: "policy", says: "share this machine's kernel"},
	"gVisor, of its own accord":  {env: "JOY_KATA_RUNTIME=io.containerd.runsc.v1", code: 5, kind: "policy", says: "runtimes: [gvisor]"},
	"the disk is full":           {before: func(t *testing.T, c *cluster) func() { return c.Fill(t) }, code: 6, kind: "platform", says: "disk is full"},
	"step: the disk is full": {midStep: func(t *testing.T, c *cluster, p *process, _ entry) {
		free := c.Fill(t)
		p.await("run.sealed")
		free()
	}},
	"step: the shim is killed": {midStep: func(t *testing.T, _ *cluster, _ *process, created entry) {
		require.NoError(t, unix.Kill(processNamed(containerOf(t, created)), unix.SIGKILL))
	}, code: 6, kind: "platform", says: "the VM is gone"},
	"step: containerd is restarted": {midStep: func(t *testing.T, c *cluster, p *process, _ entry) {
		c.Down(t)
		p.await("command.finished")
		c.Up(t)
	}},
	"step: containerd is killed": {midStep: func(t *testing.T, c *cluster, p *process, _ entry) {
		c.Kill(t)
		p.await("command.finished")
		c.Up(t)
	}},
}

// Whatever goes wrong with containerd: the exit code and the failure's kind are what the table of product says, the ledger
// is whole, joy gc has nothing to do, and nobody else's container is touched. A step that could go on lost no byte.
func TestBreakdownsInKata(t *testing.T) {
	c := newCluster(t, "")
	c.Small(t)
	project := talking()
	for name, tc := range breakdowns {
		t.Run(name, func(t *testing.T) {
			b := c.project(t, project)
			env := b.env
			if tc.env != "" {
				b.env = append(slices.Clone(env), tc.env)
			}
			undo := nothing
			if tc.before != nil {
				undo = tc.before(t, c)
			}
			p := b.start("run", "--jsonl")
			if tc.midStep != nil {
				created := p.await("sandbox.created")
				p.await("command.started")
				tc.midStep(t, c, p, created)
			}
			code := p.exitCode()
			undo()
			b.env = env
			require.Equal(t, tc.code, code, "%s", &p.stderr)
			require.Contains(t, p.stderr.String(), tc.says)
			b.verifies(0)
			require.Empty(t, b.live(), "joy itself has nothing left to do")
			c.leaves(b)
			b.ended(t, tc.kind)
		})
	}
}

// ended holds what the ledger says of the end: the kind of the failure, or that the talking step lost no byte.
func (b *bench) ended(t *testing.T, kind string) {
	t.Helper()
	entries := b.ledger()
	finish := b.finish(entries)
	if kind != "" {
		require.Equal(t, []any{"failed", kind}, []any{finish.Data["outcome"], finish.Data["failure_kind"]})
		require.Empty(t, only(entries, "artifact.stored"))
		require.LessOrEqual(t, len(only(entries, "command.started")), 1, "it is not run again")
		return
	}
	require.Equal(t, "succeeded", finish.Data["outcome"])
	sum := sha256.Sum256([]byte(said40))
	commands := only(entries, "command.finished")
	require.Len(t, commands, 1, "it ran once")
	require.Equal(t, "sha256:"+hex.EncodeToString(sum[:]), commands[0].Data["stderr"].(map[string]any)["sha256"])
	require.Equal(t, true, only(entries, "sandbox.destroyed")[0].Data["verified"])
}

// A containerd that is away for good at the end of a run leaves a VM of which nobody can tell. The run says so, whatever
// its steps have come to, and joy gc ends it when containerd is back.
func TestContainerdStaysAway(t *testing.T) {
	c := newCluster(t, "")
	b := c.project(t, talking())
	p := b.start("run", "--jsonl")
	container := containerOf(t, p.await("sandbox.created"))
	p.await("command.started")
	c.Down(t)
	require.Equal(t, 6, p.exitCode(), "%s", &p.stderr)
	require.Contains(t, p.stderr.String(), "may still be alive")
	require.Contains(t, p.stderr.String(), "joy gc")
	b.verifies(0)
	require.Len(t, b.live(), 1, "joy gc is to find it")
	code, _, stderr := b.run("gc")
	require.Equal(t, 6, code, stderr)
	require.Len(t, b.live(), 1)
	c.Up(t)
	code, stdout, stderr := b.run("gc")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, container)
	c.leaves(b)
}

// Who kills joy kills the VM with it, for the guest's input ends; joy gc removes the rest, and the ledger is whole as far
// as it goes. What a moment before the step leaves is removed as well.
func TestJoyIsKilledInKata(t *testing.T) {
	c := newCluster(t, "")
	t.Run("under a step", func(t *testing.T) {
		b := c.project(t, waiting())
		p := b.start("run", "--jsonl")
		container := containerOf(t, p.await("sandbox.created"))
		p.await("command.started")
		b.said("waiting")
		require.NoError(t, p.cmd.Process.Kill())
		require.Equal(t, -1, p.exitCode())
		require.Len(t, b.live(), 1)
		_, stdout, _ := b.run("gc", "--dry-run")
		require.Contains(t, stdout, "kata:"+container)
		require.Len(t, b.live(), 1, "nothing was done")
		require.NotEmpty(t, c.named(t, container))
		code, stdout, stderr := b.run("gc")
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, "kata:"+container)
		gone(t, container)
		c.leaves(b)
		code, stdout, stderr = b.run("ledger", "verify")
		require.Equal(t, 7, code, "it has no seal: %s%s", stdout, stderr)
		require.NotContains(t, stdout+stderr, "broken")
		require.Equal(t, map[string]int{"incomplete": 1}, b.sound())
	})
	for i := range kills(3, 20) {
		t.Run(fmt.Sprintf("at moment %d", i), func(t *testing.T) {
			b := c.project(t, waiting())
			p := b.start("run", "--jsonl")
			p.await("sandbox.requested")
			time.Sleep(soon(time.Second)) // the moment is what is random here
			require.NoError(t, p.cmd.Process.Kill())
			p.exitCode()
			b.sound()
			c.leaves(b)
		})
	}
	t.Run("and the next run clears up", func(t *testing.T) {
		b := c.project(t, waiting())
		p := b.start("run", "--jsonl")
		p.await("command.started")
		require.NoError(t, p.cmd.Process.Kill())
		p.exitCode()
		b.write("skills/wait/wait.sh", "#!/bin/sh\necho '{}'\n")
		code, _, stderr := b.run("build")
		require.Zero(t, code, stderr)
		code, _, stderr = b.run("run")
		require.Zero(t, code, stderr)
		require.Empty(t, b.live())
		c.leaves(b)
	})
}

func TestInterruptedInKata(t *testing.T) {
	c := newCluster(t, "")
	b := c.project(t, waiting())
	p := b.start("run", "--jsonl")
	p.await("command.started")
	b.said("waiting")
	require.NoError(t, p.cmd.Process.Signal(unix.SIGINT))
	require.Equal(t, 130, p.exitCode(), "%s", &p.stderr)
	b.verifies(0)
	entries := b.ledger()
	require.Equal(t, "interrupted", b.finish(entries).Data["outcome"])
	require.Equal(t, "half.txt", only(entries, "artifact.stored")[0].Data["name"])
	require.Empty(t, b.live())
	c.leaves(b)
}

// A handler with Kata's name that is runc: no step is in it, and the run says why.
func TestHandlerThatOnlySoundsLikeKata(t *testing.T) {
	c := newCluster(t, katatest.Pretend(t, katatest.ByScript))
	for name, joy := range map[string]string{"the joy of the tests": c.joy, "the joy that is shipped": ""} {
		t.Run(name, func(t *testing.T) {
			b := c.project(t, talking())
			b.joy = joy
			b.env = append(b.env, "JOY_KATA_RUNTIME=io.containerd.kata.v2")
			code, stdout, stderr := b.run("run", "--jsonl")
			require.Equal(t, 5, code, stderr)
			require.Contains(t, stderr, "shares this machine's kernel")
			require.NotContains(t, stdout, "command.started")
			b.verifies(0)
			require.Empty(t, b.live())
			c.leaves(b)
			b.ended(t, "policy")
		})
	}
	t.Run("the joy that is shipped has no door", func(t *testing.T) {
		b := c.project(t, talking())
		b.joy = ""
		code, stdout, stderr := b.run("run", "--jsonl")
		require.Equal(t, 5, code, stderr)
		require.Contains(t, stderr, "share this machine's kernel")
		require.NotContains(t, stdout, "sandbox.created")
		c.leaves(b)
	})
}
