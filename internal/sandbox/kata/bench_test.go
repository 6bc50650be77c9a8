//go:build linux

package kata

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// BenchmarkStart is the start of a VM, from the call of Create to the first command's end, beside ctr run of the same image
// with the same runtime, in turn.
func BenchmarkStart(b *testing.B) {
	r := newRig(b)
	client, err := r.Client()
	require.NoError(b, err)
	defer client.Close()
	images, err := client.ListImages(b.Context())
	require.NoError(b, err)
	r.first(b) // which unpacks the image
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, r.first(b))
		begun := time.Now()
		cmd := exec.CommandContext(b.Context(), "ctr", "-a", r.Address(), "-n", Namespace, "run", "--rm", "--read-only",
			"--runtime", r.Runtime, images[0].Name(), "bench", "/bin/echo", "joy")
		out, err := cmd.CombinedOutput()
		theirs = append(theirs, time.Since(begun))
		require.NoError(b, err, "%s", out)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	mine, other := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(float64(mine.Milliseconds()), "ms/start")
	b.ReportMetric(float64(other.Milliseconds()), "ms/ctr-run")
	b.ReportMetric(float64(mine)/float64(other), "ratio")
}

// first makes a VM, runs a command and gives how long that took; the end is not in it.
func (r *rig) first(b *testing.B) time.Duration {
	begun := time.Now()
	sb, err := r.Create(b.Context(), r.spec())
	require.NoError(b, err)
	w, err := sb.Open(b.Context(), sandbox.WorldSpec{ID: "bench", Env: map[string]string{"PATH": "/bin"}})
	require.NoError(b, err)
	var out bytes.Buffer
	_, err = w.Run(b.Context(), sandbox.Command{Argv: []string{"echo", "joy"}}, &out, &out)
	took := time.Since(begun)
	require.NoError(b, err)
	require.Equal(b, "joy", strings.TrimSpace(out.String()))
	require.NoError(b, sb.Destroy(context.WithoutCancel(b.Context())))
	return took
}

// Address is containerd's.
func (r *rig) Address() string { return r.Containerd.Address }
