package cli

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
)

// phasesOn plays the same phases to a view on a stream: a terminal or not, quiet or not.
func phasesOn(t *testing.T, tty, quiet bool) string {
	t.Helper()
	var out bytes.Buffer
	unset := func(string) (string, bool) { return "", false }
	a := &app{quiet: quiet, out: newUI(io.Discard, "never", unset), err: newUI(&out, "never", unset)}
	a.err.tty, a.err.width = tty, 40
	v := a.watchPhases()
	at := time.Unix(0, 0)
	v.mu.Lock()
	v.now = func() time.Time { return at }
	v.mu.Unlock()
	tell := func(p image.Progress) {
		v.tell(p)
		v.mu.Lock()
		at = at.Add(35 * time.Second)
		v.mu.Unlock()
	}
	tell(image.Progress{Phase: "reading the index"})
	tell(image.Progress{Phase: "packing", Total: 4 << 20})
	tell(image.Progress{Phase: "packing", Total: 4 << 20, Done: 1 << 20})
	tell(image.Progress{Phase: "a phase\x1b[2J of very many words that does not fit"})
	v.end()
	return out.String()
}

func TestPhases(t *testing.T) {
	require.Empty(t, phasesOn(t, true, true))
	require.Empty(t, phasesOn(t, false, true))
	require.Equal(t, "reading the index\npacking\na phase\\x1b[2J of very many words that does not fit\n", phasesOn(t, false, false))
}

func TestPhasesOnATerminal(t *testing.T) {
	out := phasesOn(t, true, false)
	require.Contains(t, out, "\r\x1b[Kreading the index  35s\n")
	require.Contains(t, out, "\r\x1b[Kpacking  1 MiB of 4 MiB  1m10s\n")
	require.Contains(t, out, "…\n", "cut to the width")
	require.NotContains(t, out, "\x1b[2J")
	require.Equal(t, byte('\n'), out[len(out)-1])
}
