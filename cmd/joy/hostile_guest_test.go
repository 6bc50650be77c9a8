//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// maxJoy bounds the memory of a joy whose guest is hostile, in KiB. In peace it needs some forty MiB.
const maxJoy = 128 << 10

// TestHostileGuest runs a joy that carries a joy-guest which turns on it: whatever comes out of the VM then, joy's
// memory is bounded, the VM is lost, and the run is the platform's failure. So it is when nothing comes out any more: joy
// does not wait for the run's limit.
func TestHostileGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("boots VMs")
	}
	joy := joyWithHostileGuest(t)
	for what, reason := range map[string]string{
		"garbage": "broke the protocol", "giant": "broke the protocol", "zeros": "broke the protocol",
		"silence": "has not answered an order to kill",
	} {
		t.Run(what, func(t *testing.T) {
			needVM(t)
			b := newBench(t, tree(t, "testdata/sabotage"))
			cmd := b.command("run", "--input", "what="+what)
			cmd.Path = joy
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			begin := time.Now()
			require.NoError(t, cmd.Start())
			most := peakMemory(cmd.Process.Pid)
			err := cmd.Wait()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, 6, exit.ExitCode(), "%s", &stderr)
			peak := <-most
			t.Logf("ended after %s, with %d KiB at most: %s", time.Since(begin), peak, &stderr)
			require.Less(t, time.Since(begin), 15*time.Minute, "it waited for the run's limit")
			require.Less(t, peak, maxJoy, "KiB of memory")
			require.Positive(t, peak)
			b.verifies(0)
			entries := b.ledger()
			require.Len(t, only(entries, "sandbox.lost"), 1)
			require.Contains(t, only(entries, "sandbox.lost")[0].Data["reason"], reason)
			require.Equal(t, "platform", of(t, entries, "step.finished", "sabotage").Data["failure_kind"])
			checkGone(t, b, entries)
		})
	}
}

// joyWithHostileGuest builds joy with testdata/sabotage/guest in the place of joy-guest.
func joyWithHostileGuest(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	guest, overlay, joy := filepath.Join(dir, "guest"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "joy")
	carried, err := filepath.Abs("../../internal/image/embed/joy-guest-linux-" + runtime.GOARCH)
	require.NoError(t, err)
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{carried: guest}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))
	for _, args := range [][]string{
		{"-trimpath", "-ldflags", "-s -w -buildid=", "-o", guest, "./testdata/sabotage/guest"},
		{"-overlay", overlay, "-o", joy, "."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-buildvcs=false"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return joy
}

// peakMemory follows the most memory that a process has had, in KiB, and tells it when the process has ended.
func peakMemory(pid int) <-chan int {
	told := make(chan int, 1)
	go func() {
		most := 0
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, line, found := bytes.Cut(status, []byte("VmHWM:"))
			if err != nil || !found {
				told <- most
				return
			}
			_, _ = fmt.Sscan(string(line), &most)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return told
}
