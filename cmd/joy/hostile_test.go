//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// hostileGrace is how much later than its time limit a hostile step must have ended, on a machine where the honest one
// takes honestTime. Where that takes longer, all does.
const (
	hostileGrace = 5 * time.Second
	honestTime   = 6 * time.Second
)

// deed is how a step ends that does it.
type deed struct {
	limit  time.Duration // of the step
	status string        // succeeded; "" means that it fails, by its own fault
	code   int           // of joy run, when nothing else goes wrong
	reason string        // what the VM did to the command
	ended  string        // what ended the command from outside
	signal string
	says   string // in the failure's words
}

const short, patient, long = 8 * time.Second, 20 * time.Second, 10 * time.Minute

var deeds = map[string]deed{
	"fork-bomb":     {limit: short, ended: "time limit", signal: "SIGKILL", code: 124, says: "took longer than 8s"},
	"processes":     {limit: long, code: 1, reason: "pids", says: "too many processes"},
	"disk":          {limit: long, code: 1, reason: "disk", says: "filled its share of the disk"},
	"memory":        {limit: long, code: 1, reason: "oom", signal: "SIGKILL", says: "out of memory"},
	"shared-memory": {limit: long, code: 1, reason: "oom", signal: "SIGKILL", says: "out of memory"},
	"kill":          {limit: long, code: 1, signal: "SIGKILL", says: "ended by SIGKILL"},
	"reboot":        {limit: long, code: 1, says: "status 1"},
	"sysrq":         {limit: long, code: 1, says: "status 1"},
	"output":        {limit: long, code: 1, says: "not JSON"},
	"descriptors":   {limit: patient, ended: "time limit", signal: "SIGKILL", code: 124, says: "took longer than 20s"},
	"stopped":       {limit: long}, // see TestStoppedVM
	"daemon":        {limit: long, status: "succeeded"},
}

// together are deeds that use up nothing: their steps run beside one another, too, in one VM. The others have one each.
var together = map[string]bool{"kill": true, "reboot": true, "sysrq": true, "output": true, "descriptors": true, "daemon": true}

// TestHostileSteps runs an honest step beside hostile ones.
func TestHostileSteps(t *testing.T) {
	runs := map[string][]string{}
	for name := range deeds {
		if name == "stopped" {
			continue
		}
		run := name
		if together[name] {
			run = "together"
		}
		runs[run] = append(runs[run], name)
	}
	for run, names := range runs {
		t.Run(run, func(t *testing.T) {
			needVM(t)
			b := newBench(t, hostileAgent(t, names...))
			code, _, stderr := b.run("run")
			b.verifies(0)
			entries := b.ledger()
			end := b.finish(entries)
			require.Equal(t, "agent", end.Data["failure_kind"], "%s", stderr)
			require.Contains(t, names, end.Data["step"])
			require.Equal(t, deeds[end.Data["step"].(string)].code, code, "%s", stderr)
			for _, name := range names {
				checkHostile(t, entries, name)
			}
			checkHonest(t, entries)
			checkGone(t, b, entries)
		})
	}
}

// hostileAgent is testdata/hostile with a step for each deed beside the honest one. The VM boots in a step of its own:
// what the others have is their time alone.
func hostileAgent(t *testing.T, names ...string) map[string]string {
	files := tree(t, "testdata/hostile")
	spec := "version: 1\nname: hostile\nimage: tiny\nskills: ['skills/*']\n" +
		"policy: {cpus: 2, memory: 256MiB, disk: 128MiB, timeout: 20m}\nsteps:\n" +
		"  - {id: boot, skill: boot}\n  - {id: honest, skill: honest, needs: [boot]}\n"
	for _, name := range names {
		spec += fmt.Sprintf("  - {id: %s, skill: hostile, needs: [boot], with: {deed: %s}, timeout: %.0fs}\n", name, name, deeds[name].limit.Seconds())
	}
	files["joy.yaml"] = spec
	return files
}

func checkHostile(t *testing.T, entries []entry, name string) {
	t.Helper()
	want := deeds[name]
	step, command := of(t, entries, "step.finished", name).Data, of(t, entries, "command.finished", name).Data
	t.Logf("%s: %s: %v", name, took(step), step["error"])
	pace := max(1, took(of(t, entries, "step.finished", "honest").Data).Seconds()/honestTime.Seconds())
	require.Less(t, took(step).Seconds(), want.limit.Seconds()+pace*hostileGrace.Seconds(), name)
	if want.status != "" {
		require.Equal(t, want.status, step["status"], name)
		return
	}
	require.Equal(t, "agent", step["failure_kind"], name)
	require.Contains(t, step["error"], want.says, name)
	for key, value := range map[string]string{"reason": want.reason, "ended_by": want.ended, "signal": want.signal} {
		if name == "fork-bomb" && key == "reason" {
			continue // how far it gets in its time depends on the machine
		}
		got, _ := command[key].(string)
		require.Equal(t, value, got, "%s of %s: %v", key, name, command)
	}
}

// checkHonest requires that the honest step did all of its work: its artifact is exactly what it must be.
func checkHonest(t *testing.T, entries []entry) {
	t.Helper()
	step := of(t, entries, "step.finished", "honest").Data
	t.Logf("honest: %s", took(step))
	require.Equal(t, "succeeded", step["status"], "%v", step)
	sum := sha256.Sum256([]byte(strings.Repeat("x", 10*200_000)))
	require.Equal(t, "sha256:"+hex.EncodeToString(sum[:]), of(t, entries, "artifact.stored", "honest").Data["sha256"])
}

// checkGone requires that nothing of the run is left but its record.
func checkGone(t *testing.T, b *bench, entries []entry) {
	t.Helper()
	require.False(t, alive(vmPID(t, only(entries, "sandbox.created")[0])))
	require.Equal(t, true, only(entries, "sandbox.destroyed")[0].Data["verified"])
	for _, dir := range []string{"tmp", "runtime", "state/joy/live", "project/.joy/objects/tmp"} {
		require.Empty(t, listing(t, filepath.Join(b.top, dir)), "left in %s", dir)
	}
}

// TestStoppedVM: a VM that is stopped from outside takes all of its steps along. joy notices, and says so.
func TestStoppedVM(t *testing.T) {
	needVM(t)
	b := newBench(t, hostileAgent(t, "stopped"))
	p := b.start("run")
	vm := vmPID(t, p.await("sandbox.created"))
	b.said("waiting")
	begin := time.Now()
	require.NoError(t, unix.Kill(vm, unix.SIGSTOP))
	require.Equal(t, 6, p.exitCode(), "%s", &p.stderr) // which waits for less than any limit of the run
	t.Logf("joy ended %s after the VM stood still", time.Since(begin))
	require.Contains(t, p.stderr.String(), "stopped")
	b.verifies(0)
	entries := b.ledger()
	require.Len(t, only(entries, "sandbox.lost"), 1)
	for _, step := range []string{"stopped", "honest"} {
		require.Equal(t, "platform", of(t, entries, "step.finished", step).Data["failure_kind"])
	}
	checkGone(t, b, entries)
}

// took is how long a step took, by its step.finished.
func took(step map[string]any) time.Duration {
	return time.Duration(step["ms"].(float64)) * time.Millisecond
}

// of is the one entry of a type that a step has.
func of(t *testing.T, entries []entry, typ, step string) entry {
	t.Helper()
	for _, e := range entries {
		if e.Type == typ && e.Step == step {
			return e
		}
	}
	require.Fail(t, "no "+typ+" of "+step)
	return entry{}
}

// tree reads a project from the tests' own.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range listing(t, dir) {
		body, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			files[name] = string(body)
		}
	}
	require.NotEmpty(t, files)
	return files
}
