//go:build linux

package e2b

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// Commands side by side, all over one carrier that is cut besides: each has its own input, output and status.
func TestManyCommands(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	hits := r.server.Fault(e2btest.Fault{On: e2btest.ProcessStart, Skip: 1, Times: 3, Do: e2btest.CutStream(60)})
	w := open(t, r.create(t, r.spec()))
	ctx, cancel := context.WithTimeout(t.Context(), sandboxtest.Patience)
	defer cancel()
	var all errgroup.Group
	for i := range 200 {
		all.Go(func() error {
			input := strings.Repeat(fmt.Sprintf("%03d\n", i), 5000)
			var out, errs bytes.Buffer
			res, err := w.Run(ctx, sandbox.Command{
				Argv: []string{"sh", "-c", fmt.Sprintf("cat; echo %d >&2; exit %d", i, i)}, Stdin: strings.NewReader(input),
			}, &out, &errs)
			switch {
			case err != nil:
				return err
			case out.String() != input || errs.String() != fmt.Sprintf("%d\n", i) || res.ExitCode != i:
				return fmt.Errorf("command %d: %d bytes of output, %q, status %d", i, out.Len(), &errs, res.ExitCode)
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
	require.Positive(t, hits())
}
