//go:build linux

package e2b

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// inVM runs a script in the sandbox by its daemon, outside of every world, and gives what it says.
func inVM(t *testing.T, b *box, script string) string {
	t.Helper()
	s, err := b.daemon.Start(t.Context(), client.Start{Cmd: "/bin/sh", Args: []string{"-c", script}, Dir: "/"})
	require.NoError(t, err)
	defer s.Close()
	var out strings.Builder
	for ev, err := s.Next(); err == nil; ev, err = s.Next() {
		out.Write(ev.Stdout)
	}
	return out.String()
}

// carriers lists the processes that are one.
const carriers = `for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline 2>/dev/null | grep -q '^[^ ]*joy-guest attach ' && echo ${p#/proc/}; done; true`

// A carrier whose process is ended, whoever ends it, is replaced: what it had in hand is lost with it, and comes again. Its
// streams are the guest's, and end with it all the same; no process of an earlier carrier is left.
func TestKilledCarriers(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	b := r.create(t, r.spec()).(*box)
	w := open(t, b)
	const size = 8 << 20
	up, ended, out := make(chan struct{}), make(chan error, 1), &sums{}
	go func() {
		res, err := w.Run(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", `i=0; while [ $i -lt 256 ]; do head -c 32768 /dev/zero | tr '\0' x; i=$((i+1)); sleep 0.01; done; exit 5`}},
			io.MultiWriter(&signal{up: up}, out), io.Discard)
		if err == nil && res.ExitCode != 5 {
			err = io.ErrUnexpectedEOF
		}
		ended <- err
	}()
	<-up
	seen := map[string]bool{}
	for kill := range 6 {
		var pid string
		require.Eventually(t, func() bool {
			pid = strings.TrimSpace(inVM(t, b, carriers))
			return pid != "" && !strings.Contains(pid, "\n") && !seen[pid]
		}, time.Minute, 50*time.Millisecond, "one process is the carrier")
		seen[pid] = true
		if kill%2 == 0 {
			inVM(t, b, "kill -KILL "+pid)
		} else {
			inVM(t, b, "kill -TERM "+pid)
		}
	}
	require.NoError(t, <-ended)
	require.Equal(t, int64(size), out.n)
	require.Zero(t, out.other, "bytes that were never written")
	require.NotContains(t, strings.TrimSpace(inVM(t, b, carriers)), "\n")
}

// sums counts the bytes that a test expects, and others.
type sums struct{ n, other int64 }

func (s *sums) Write(b []byte) (int, error) {
	s.n += int64(len(b))
	s.other += int64(len(b) - strings.Count(string(b), "x"))
	return len(b), nil
}
