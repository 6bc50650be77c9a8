package sandboxtest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

func testEnding(t *testing.T, r *room) {
	w := r.world(t, sandboxWorld)

	for name, tc := range map[string]struct {
		script string
		code   int
		signal string
	}{
		"success":                 {"true", 0, ""},
		"status":                  {"exit 7", 7, ""},
		"highest status":          {"exit 255", 255, ""},
		"own TERM":                {"kill -TERM $$", 143, "SIGTERM"},
		"own KILL":                {"kill -KILL $$", 137, "SIGKILL"},
		"own SEGV":                {"kill -SEGV $$", 139, "SIGSEGV"},
		"a signal of the child's": {"sh -c 'kill -TERM $$'; exit $?", 143, ""},
		"not found by the shell":  {"no-such-program", 127, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := w.run(t, shell(tc.script))
			require.Equal(t, tc.code, out.ExitCode)
			require.Equal(t, tc.signal, out.Signal)
			require.Empty(t, out.Reason)
			require.False(t, out.Symbolic)
		})
	}

	t.Run("time is measured", func(t *testing.T) {
		out := w.run(t, shell("sleep 0.5"))
		require.GreaterOrEqual(t, out.Duration, 500*time.Millisecond)
	})

	w.sh(t, `cd /workspace; printf '#!/no/such/shell\n' >bad; printf 'echo hi' >bare; printf x >data; chmod +x bad bare; mkdir dir`)
	for name, tc := range map[string]struct {
		argv []string
		want string
	}{
		"no program":        {[]string{"no-such-program"}, "no-such-program"},
		"no such path":      {[]string{"/no/such/path"}, "no such file"},
		"no interpreter":    {[]string{"./bad"}, "interpreter"},
		"no shebang":        {[]string{"./bare"}, "format"},
		"not executable":    {[]string{"./data"}, "permission denied"},
		"a directory":       {[]string{"./dir"}, "permission denied"},
		"nothing":           {nil, "empty"},
		"empty name":        {[]string{""}, "empty"},
		"a NUL":             {[]string{"echo", "a\x00b"}, "invalid"},
		"not UTF-8":         {[]string{"echo", "caf\xc3"}, "UTF-8"},
		"more than a frame": {[]string{"echo", strings.Repeat("x", 2<<20)}, "bytes"},
		"one long argument": {[]string{"true", strings.Repeat("x", 400_000)}, "too long"},
	} {
		t.Run("does not start: "+name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), Patience)
			defer cancel()
			_, err := w.Run(ctx, sandbox.Command{Argv: tc.argv}, io.Discard, io.Discard)
			require.ErrorContains(t, err, tc.want)
			require.NotErrorIs(t, err, sandbox.ErrLost)
		})
	}
	require.Equal(t, "still here\n", w.sh(t, "echo still here"))
}
