//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// waiting is an agent whose one step has left something and then waits for longer than any test.
func waiting() map[string]string {
	return map[string]string{
		"joy.yaml": "version: 1\nname: waiting\nimage: tiny\nskills: [skills/wait]\n" +
			"policy: {cpus: 1, memory: 256MiB, disk: 256MiB}\nsteps: [{id: wait, skill: wait}]\n",
		"skills/wait/SKILL.md": "---\nname: wait\ndescription: Waits.\nmetadata: {joy.entry: wait.sh}\n---\n",
		// The file is there before what the test waits for could be seen.
		"skills/wait/wait.sh": "#!/bin/sh\necho half > out/half.txt\necho waiting >&2\nsleep 1000 & wait\n",
	}
}

// begun starts the waiting agent and returns when its command runs, with the pid of its VM.
func (b *bench) begun() (*process, int) {
	b.t.Helper()
	p := b.start("run")
	pid := vmPID(b.t, p.await("sandbox.created"))
	p.await("command.started")
	b.said("waiting")
	return p, pid
}

// said waits until the step has written to stderr.
func (b *bench) said(text string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		logs, _ := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*/logs/*.stderr"))
		for _, log := range logs {
			if body, _ := os.ReadFile(log); string(body) == text+"\n" {
				return true
			}
		}
		return false
	}, patience, 20*time.Millisecond)
}

// signalCodes are the exit codes of a run that was asked to stop.
var signalCodes = map[unix.Signal]int{unix.SIGINT: 130, unix.SIGTERM: 143, unix.SIGHUP: 129}

func TestSignalEndsRun(t *testing.T) {
	for signal, code := range signalCodes {
		t.Run(unix.SignalName(signal), func(t *testing.T) {
			needVM(t)
			b := newBench(t, waiting())
			p, vm := b.begun()
			require.NoError(t, p.cmd.Process.Signal(signal))
			require.Equal(t, code, p.exitCode(), "%s", &p.stderr)
			require.False(t, alive(vm), "the VM outlived joy")
			b.verifies(0)
			entries := b.ledger()
			require.Equal(t, "interrupted", b.finish(entries).Data["outcome"])
			require.Equal(t, "half.txt", only(entries, "artifact.stored")[0].Data["name"])
			require.Equal(t, true, only(entries, "sandbox.destroyed")[0].Data["verified"])
			require.Contains(t, p.stderr.String(), "stopping: ")
			require.Contains(t, p.stderr.String(), "Error: stopped by ")
			require.Regexp(t, `(?m)^step \S+ interrupted after `, p.stderr.String())
			require.NotContains(t, p.stderr.String(), "failure_kind: agent", "a signal is not the agent's failure")
			require.Empty(t, b.live())
		})
	}
}

// live lists the user's index of live runs.
func (b *bench) live() []string {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.top, "state/joy/live/*"))
	require.NoError(b.t, err)
	return files
}

func TestKilledVMIsLost(t *testing.T) {
	needVM(t)
	b := newBench(t, waiting())
	p, vm := b.begun()
	require.NoError(t, unix.Kill(vm, unix.SIGKILL))
	require.Equal(t, 6, p.exitCode(), "%s", &p.stderr)
	b.verifies(0)
	entries := b.ledger()
	require.Len(t, only(entries, "sandbox.lost"), 1)
	require.Len(t, only(entries, "run.finished"), 1)
	// Nobody knows how the command ended, and nothing pretends to.
	require.Empty(t, only(entries, "command.finished"))
	require.Equal(t, "platform", only(entries, "step.finished")[0].Data["failure_kind"])
	require.Empty(t, b.live())
}

func TestKilledJoy(t *testing.T) {
	needVM(t)
	b := newBench(t, waiting())
	other := newBench(t, waiting())
	other.env = append(other.env, "XDG_STATE_HOME="+filepath.Join(b.top, "state")) // the same user
	living, livingVM := other.begun()
	p, vm := b.begun()
	require.NoError(t, p.cmd.Process.Kill())
	require.Equal(t, -1, p.exitCode())
	require.Eventually(t, func() bool { return !alive(vm) }, patience, 10*time.Millisecond, "the VM outlived joy")

	code, stdout, stderr := b.run("ledger", "verify")
	require.Equal(t, 7, code)
	require.Contains(t, stdout+stderr, "incomplete")
	require.Len(t, b.live(), 2)

	runs, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*"))
	require.NoError(t, err)
	id := filepath.Base(runs[0])
	ledger := filepath.Join(runs[0], "ledger.jsonl")
	whole, err := os.ReadFile(ledger)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(ledger, append(whole, `{"seq":`...), 0o600)) // killed in the middle of a line
	for _, args := range [][]string{{"gc", "--dry-run"}, {"gc"}} {
		code, stdout, stderr = b.run(args...)
		require.Zero(t, code, "%s", stderr)
		require.Contains(t, stdout, id)
		require.Equal(t, 1, strings.Count(stdout, "\n"), "only the dead run is named: %s", stdout)
	}
	require.FileExists(t, filepath.Join(runs[0], "maintenance.jsonl"))
	torn, err := os.ReadFile(ledger + ".torn")
	require.NoError(t, err)
	require.Equal(t, `{"seq":`, string(torn))
	mended, err := os.ReadFile(ledger)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(mended), string(whole)))
	require.Contains(t, string(mended[len(whole):]), `"type":"ledger.recovered"`)
	code, stdout, stderr = b.run("ledger", "verify")
	require.Equal(t, 7, code)
	require.Contains(t, stdout+stderr, "there is no run.finished: joy died, and joy gc sealed what it had written")
	require.Contains(t, stdout, "the head is the one in your index of runs")
	require.Len(t, b.live(), 1)
	require.True(t, alive(livingVM), "a living joy's VM is not gc's")

	require.NoError(t, living.cmd.Process.Signal(unix.SIGTERM))
	require.Equal(t, 143, living.exitCode(), "%s", &living.stderr)
	other.verifies(0)
	require.Empty(t, b.live())
}

// filling is waiting with so many files that their collection is still going on when the next signal comes.
func filling() map[string]string {
	files := waiting()
	files["skills/wait/wait.sh"] = "#!/bin/sh\ni=0\nwhile [ $i -lt 190 ]; do head -c 500000 /dev/zero > out/$i; i=$((i+1)); done\n" +
		"echo waiting >&2\nsleep 1000 & wait\n"
	return files
}

func TestSecondSignalSkipsCollection(t *testing.T) {
	needVM(t)
	b := newBench(t, filling())
	p, vm := b.begun()
	require.NoError(t, p.cmd.Process.Signal(unix.SIGINT))
	p.await("artifact.stored") // the collection has begun
	require.NoError(t, p.cmd.Process.Signal(unix.SIGINT))
	require.Equal(t, 130, p.exitCode(), "%s", &p.stderr)
	require.False(t, alive(vm))
	b.verifies(0)
	entries := b.ledger()
	require.Less(t, len(only(entries, "artifact.stored")), 190)
	require.Contains(t, only(entries, "artifact.skipped")[0].Data["reason"], "ended early")
	require.Equal(t, "interrupted", b.finish(entries).Data["outcome"])
}

func TestThirdSignalLeavesAtOnce(t *testing.T) {
	needVM(t)
	b := newBench(t, filling())
	p, vm := b.begun()
	require.NoError(t, p.cmd.Process.Signal(unix.SIGINT))
	p.await("artifact.stored")
	// Stopped, QEMU can neither answer nor die of the channel's end: joy has something to wait for.
	require.NoError(t, unix.Kill(vm, unix.SIGSTOP))
	require.NoError(t, p.cmd.Process.Signal(unix.SIGINT))
	require.NoError(t, p.cmd.Process.Signal(unix.SIGTERM))
	require.Equal(t, 6, p.exitCode(), "%s", &p.stderr)
	require.Contains(t, p.stderr.String(), "a VM may still be alive")
	require.Contains(t, p.stderr.String(), `run "joy gc"`)
	require.Eventually(t, func() bool { return !alive(vm) }, patience, 10*time.Millisecond, "the VM outlived joy")
	b.verifies(7)
	code, stdout, _ := b.run("gc")
	require.Zero(t, code)
	require.Contains(t, stdout, "no VM was left")
}

// TestReaderLeavesRun is `joy run | head -1`: the run is not the reader's hostage.
func TestReaderLeavesRun(t *testing.T) {
	needVM(t)
	files := waiting()
	files["skills/wait/wait.sh"] = "#!/bin/sh\necho '{}'\n"
	b := newBench(t, files)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd := b.command("run")
	cmd.Stdout = w
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	_, err = r.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, cmd.Wait())
	b.verifies(0)
	require.False(t, alive(vmPID(t, only(b.ledger(), "sandbox.created")[0])))
}
