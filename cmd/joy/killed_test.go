//go:build linux

package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// kills is how often a test kills something: often when JOY_SOAK is set, as script/soak does.
func kills(usually, soak int) int {
	if os.Getenv("JOY_SOAK") != "" {
		return soak
	}
	return usually
}

// soon is a random moment within d.
func soon(d time.Duration) time.Duration {
	return rand.N(d) // #nosec G404 -- any moment will do
}

// sound asserts what must be true after any kill and joy gc: each ledger is complete, or says what was lost; an object's
// name is that of its bytes; nothing half-written is left. It returns how many ledgers are in which state.
func (b *bench) sound() map[string]int {
	b.t.Helper()
	code, stdout, stderr := b.run("gc")
	require.Zero(b.t, code, "%s%s", stdout, stderr)
	states := map[string]int{}
	runs, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*"))
	require.NoError(b.t, err)
	if len(runs) > 0 {
		_, stdout, stderr = b.run("ledger", "verify", "--json")
		var doc struct {
			Runs []struct{ Run, State, Problem string }
		}
		require.NoError(b.t, json.Unmarshal([]byte(stdout), &doc), "%s%s", stdout, stderr)
		for _, r := range doc.Runs {
			states[r.State]++
			require.Contains(b.t, []string{"complete", "incomplete"}, r.State, "%s: %s", r.Run, r.Problem)
			require.Equal(b.t, r.State == "incomplete", r.Problem != "", r.Run)
			if r.State == "incomplete" {
				require.FileExists(b.t, filepath.Join(b.dir, ".joy/runs", r.Run, "maintenance.jsonl"), "it was cleared on record")
			}
		}
	}
	objects, err := filepath.Glob(filepath.Join(b.dir, ".joy/objects/sha256/*/*"))
	require.NoError(b.t, err)
	for _, object := range objects {
		body, err := os.ReadFile(object)
		require.NoError(b.t, err)
		sum := sha256.Sum256(body)
		require.Equal(b.t, filepath.Base(object), hex.EncodeToString(sum[:]))
	}
	for _, pattern := range []string{
		"project/.joy/objects/tmp/*", "project/.joy/runs/*/.new-*", "project/.joy/runs/*.removed", "state/joy/*/.new-*", "state/joy/live/*",
	} {
		left, err := filepath.Glob(filepath.Join(b.top, pattern))
		require.NoError(b.t, err)
		require.Empty(b.t, left)
	}
	return states
}

// TestKilledUnderLoad kills who records a run, by many hands at once, at random moments. What it had been told to be on
// the disk is there.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	b := newBench(t, waiting())
	states := map[string]int{}
	n := kills(20, 200)
	for i := range n {
		cmd := b.command()
		cmd.Path, cmd.Args = lookFor(t, "record-until-killed"), []string{"record-until-killed", b.dir}
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		told := bufio.NewReader(out)
		text := ""
		if i%4 == 0 { // it may not have begun
			time.Sleep(soon(300 * time.Millisecond)) // the moment is what is random here
		} else {
			for range 1 + rand.IntN(150) { // #nosec G404 -- at any line of the 200 or so that it tells
				line, err := told.ReadString('\n')
				require.NoError(t, err)
				text += line
			}
		}
		_ = cmd.Process.Kill() // it may have come to its end
		rest, err := io.ReadAll(told)
		require.NoError(t, err)
		_ = cmd.Wait()
		lines := strings.Fields(text + string(rest))
		if len(lines) > 1 {
			b.holdsWhatWasTold(lines[0], lines[len(lines)-1])
		}
		states = b.sound()
	}
	t.Logf("%d kills: %d ledgers complete, %d incomplete, each with what was lost; the rest had not begun",
		n, states["complete"], states["incomplete"])
	require.NotZero(t, states["incomplete"], "nobody was killed at work")
}

// holdsWhatWasTold asserts that the ledger has the entry whose seq Effect had returned.
func (b *bench) holdsWhatWasTold(run, seq string) {
	b.t.Helper()
	body, err := os.ReadFile(filepath.Join(b.dir, ".joy/runs", run, "ledger.jsonl"))
	require.NoError(b.t, err)
	require.Contains(b.t, string(body), `{"seq":`+seq+`,`)
}

// TestKilledWhileRemoving kills joy gc while it removes what is old. Nothing that stays is broken, and the next goes on.
func TestKilledWhileRemoving(t *testing.T) {
	t.Parallel()
	b := newBench(t, waiting())
	for i := range kills(4, 20) {
		for range 3 {
			cmd := b.command()
			cmd.Path, cmd.Args = lookFor(t, "record-until-killed"), []string{"record-until-killed", b.dir, "60"}
			require.NoError(t, cmd.Run())
		}
		args := []string{"gc", "--runs-older", "0s"}
		if i%2 == 0 {
			args = append(args, "--bodies")
		}
		cmd := b.command(args...)
		require.NoError(t, cmd.Start())
		time.Sleep(soon(150 * time.Millisecond)) // the moment is what is random here
		_ = cmd.Process.Kill()                   // it may have come to its end
		_ = cmd.Wait()
		code, stdout, stderr := b.run("ledger", "verify")
		require.Zero(t, code, "%s%s", stdout, stderr)
		code, stdout, stderr = b.run(args...)
		require.Zero(t, code, "%s%s", stdout, stderr)
		code, stdout, stderr = b.run("ledger", "verify")
		require.Zero(t, code, "%s%s", stdout, stderr)
		require.NotContains(t, stdout, "not all yet")
		require.NotContains(t, stdout, "missing")
	}
	code, stdout, stderr := b.run("gc", "--runs-older", "0s")
	require.Zero(t, code, "%s%s", stdout, stderr)
	left, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*"))
	require.NoError(t, err)
	require.Empty(t, left)
	left, err = filepath.Glob(filepath.Join(b.dir, ".joy/objects/sha256/*/*"))
	require.NoError(t, err)
	require.Empty(t, left, "no object outlives the runs that named it")
}

// TestKilledRuns kills joy itself at random moments of a run, its VM with it.
func TestKilledRuns(t *testing.T) {
	needVM(t)
	files := waiting()
	files["skills/wait/wait.sh"] = "#!/bin/sh\nfor n in 1 2 3 4 5; do echo $n > out/$n.txt; echo $n; sleep 0.2; done\necho '{}'\n"
	b := newBench(t, files)
	start := time.Now()
	code, _, stderr := b.run("run")
	require.Zero(t, code, "%s", stderr)
	length := time.Since(start)
	n := kills(3, 10)
	for range n {
		p := b.start("run")
		time.Sleep(soon(length)) // the moment is what is random here
		_ = p.cmd.Process.Kill() // it may have come to its end
		p.exitCode()
		states := b.sound()
		require.Positive(t, states["complete"])
		code, _, stderr := b.run("gc", "--dry-run")
		require.Zero(t, code, "%s", stderr)
	}
	t.Logf("%d kills within %s: %v", n, length.Round(time.Millisecond), b.sound())
	code, _, stderr = b.run("run") // who enters the queue takes the places of the dead out of it
	require.Zero(t, code, "%s", stderr)
	require.Equal(t, []string{"lock"}, listing(t, filepath.Join(b.top, "state/joy/vms")))
}
