//go:build linux

package e2b

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

const searchPath = "/usr/local/bin:/usr/bin:/bin"

func open(t *testing.T, sb sandbox.Sandbox) sandbox.World {
	t.Helper()
	w, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: "step", Env: map[string]string{"PATH": searchPath}})
	require.NoError(t, err)
	return w
}

func run(t *testing.T, w sandbox.World, script string, stdin io.Reader) (string, sandbox.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), sandboxtest.Patience)
	defer cancel()
	var out bytes.Buffer
	res, err := w.Run(ctx, sandbox.Command{Argv: []string{"sh", "-c", script}, Stdin: stdin}, &out, &out)
	require.NoError(t, err)
	return out.String(), res
}

// A step goes on while its stream is cut and cut again: no byte is lost and none comes twice, its status is the command's
// own, and it runs once.
func TestCutStreams(t *testing.T) {
	for name, fault := range map[string]e2btest.Fault{
		"the stream":         {On: e2btest.ProcessStart, Skip: 1, Times: 4, Do: e2btest.CutStream(9)},
		"requests before":    {On: e2btest.SendInput, Skip: 6, Times: 3, Do: e2btest.Cut()},
		"requests after":     {On: e2btest.SendInput, Skip: 6, Times: 3, Do: e2btest.CutAnswer()},
		"pages of a gateway": {On: e2btest.SendInput, Skip: 6, Times: 3, Do: e2btest.AnswerPage(502)},
		"too many requests":  {On: e2btest.SendInput, Skip: 6, Times: 2, Do: e2btest.TooFast(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, e2btest.Options{})
			hits := r.server.Fault(fault)
			w := open(t, r.create(t, r.spec()))
			input := strings.Repeat("0123456789abcdef", 64<<10) // 1 MiB
			sum := md5.Sum([]byte(input))
			out, res := run(t, w, `echo once >>/tmp/times; tee /tmp/in | md5sum | cut -c1-32; cat /tmp/in; wc -l </tmp/times; exit 7`, strings.NewReader(input))
			require.Equal(t, 7, res.ExitCode)
			require.Equal(t, hex.EncodeToString(sum[:])+"\n"+input+"1\n", out)
			require.Positive(t, hits(), "something was cut")
		})
	}
}

// A sandbox that is gone ends what ran in it with that word, and nothing is run again.
func TestLost(t *testing.T) {
	for name, lose := range map[string]func(*rig, string){
		"the node failed": func(r *rig, id string) { r.server.Lose(id) },
		"killed by another": func(r *rig, id string) {
			_ = r.Client.Kill(context.Background(), id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, e2btest.Options{})
			sb := r.create(t, r.spec())
			w := open(t, sb)
			up, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				_, err := w.Run(context.Background(), sandbox.Command{Argv: []string{"sh", "-c", "echo up; sleep 1000"}}, &signal{up: up}, io.Discard)
				ended <- err
			}()
			<-up
			lose(r, r.server.Sandboxes()[0].ID)
			select {
			case err := <-ended:
				require.ErrorIs(t, err, sandbox.ErrLost)
			case <-time.After(time.Minute):
				require.Fail(t, "a command goes on without its sandbox")
			}
			<-sb.Lost()
			require.ErrorContains(t, sb.Err(), "E2B has no sandbox")
			require.NoError(t, sb.Destroy(t.Context()))
		})
	}
}

// A guest that dies in a sandbox that lives is a loss too.
func TestGuestDies(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	sb := r.create(t, r.spec())
	b := sb.(*box)
	require.NoError(t, b.daemon.SendSignal(t.Context(), b.guest, "SIGNAL_SIGKILL"))
	select {
	case <-sb.Lost():
	case <-time.After(time.Minute):
		require.Fail(t, "it is not missed")
	}
	require.ErrorContains(t, sb.Err(), "joy-guest ended")
}

// Out of reach is not lost, until it has been for too long.
func TestOutOfReach(t *testing.T) {
	for name, do := range map[string]e2btest.Effect{"a gateway's page": e2btest.AnswerPage(502), "come back in an hour": e2btest.TooFast(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, e2btest.Options{})
			r.patience = 2 * time.Second
			sb := r.create(t, r.spec())
			w := open(t, sb)
			r.server.Fault(e2btest.Fault{On: e2btest.ProcessStart, Do: do})
			r.server.Fault(e2btest.Fault{On: e2btest.SendInput, Do: do})
			ctx, cancel := context.WithTimeout(t.Context(), sandboxtest.Patience)
			defer cancel()
			_, err := w.Run(ctx, sandbox.Command{Argv: []string{"true"}}, io.Discard, io.Discard)
			require.ErrorIs(t, err, sandbox.ErrLost)
			require.ErrorContains(t, sb.Err(), "no connection for 2s")
			require.NoError(t, sb.Destroy(t.Context()))
			require.Empty(t, r.server.Sandboxes())
		})
	}
}

// signal tells of the first write.
type signal struct{ up chan struct{} }

func (s *signal) Write(b []byte) (int, error) {
	select {
	case <-s.up:
	default:
		close(s.up)
	}
	return len(b), nil
}
