package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// sandboxWorld is a world of no special making.
var sandboxWorld sandbox.WorldSpec

func testInput(t *testing.T, r *room) {
	w := r.world(t, sandboxWorld)
	with := func(script string, in io.Reader) sandbox.Command {
		cmd := shell(script)
		cmd.Stdin = in
		return cmd
	}

	t.Run("none is empty", func(t *testing.T) {
		require.Equal(t, "0\n", w.sh(t, `wc -c`))
	})
	t.Run("streamed to its end", func(t *testing.T) {
		text := bytes.Repeat([]byte("joy\x00\xff\n"), 500_000)
		out := w.run(t, with(`md5sum; echo after`, bytes.NewReader(text)))
		sum := w.run(t, with(`md5sum`, iotest.HalfReader(bytes.NewReader(text))))
		require.Equal(t, sum.stdout+"after\n", out.stdout)
		require.Equal(t, "3000000\n", w.run(t, with(`wc -c`, bytes.NewReader(text))).stdout)
	})
	t.Run("there and back at once", func(t *testing.T) {
		out := w.run(t, with(`cat`, strings.NewReader(strings.Repeat("0123456789", 300_000))))
		require.Len(t, out.stdout, 3_000_000)
	})
	t.Run("that nobody reads", func(t *testing.T) {
		out := w.run(t, with(`echo done; exit 3`, io.LimitReader(zeros{}, 20<<20)))
		require.Equal(t, 3, out.ExitCode)
		require.Equal(t, "done\n", out.stdout)
	})
	t.Run("that never ends", func(t *testing.T) {
		in, hold := io.Pipe()
		defer hold.Close()
		require.Zero(t, w.run(t, with(`true`, in)).ExitCode)
	})
	t.Run("that cannot be read is not the end of it", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), Patience)
		defer cancel()
		broken := errors.New("the disk is broken")
		_, err := w.Run(ctx, with(`cat >/dev/null; echo took it for all`, io.MultiReader(
			strings.NewReader("half"), iotest.ErrReader(broken))), failIfWritten{t}, io.Discard)
		require.ErrorIs(t, err, broken)
	})
}

type failIfWritten struct{ t *testing.T }

func (f failIfWritten) Write(b []byte) (int, error) {
	f.t.Errorf("printed %q", b)
	return len(b), nil
}
