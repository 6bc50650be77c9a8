//go:build linux

package kata

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// under starts a command that goes on until it is stopped, and returns when it runs.
func under(t *testing.T, b *box) (w sandbox.World, ended chan error) {
	t.Helper()
	w, err := b.Open(t.Context(), sandbox.WorldSpec{ID: "step", Env: map[string]string{"PATH": "/bin:/usr/bin"}})
	require.NoError(t, err)
	r, wr, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	ended = make(chan error, 1)
	go func() {
		defer wr.Close()
		res, err := w.Run(context.Background(), sandbox.Command{Argv: []string{"sh", "-c", `echo up; while [ ! -e stop ]; do sleep 0.1; done; echo down`}}, wr, wr)
		if err == nil && res.ExitCode != 0 {
			err = os.ErrInvalid
		}
		ended <- err
	}()
	up := make([]byte, 3)
	_, err = io.ReadFull(r, up)
	require.NoError(t, err)
	require.Equal(t, "up\n", string(up))
	return w, ended
}

func await[T any](t *testing.T, what string, c <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-c:
	case <-time.After(sandboxtest.Patience):
		require.Fail(t, "waited in vain", what)
	}
	return got
}

func TestContainerdIsDown(t *testing.T) {
	p := &Provider{Address: filepath.Join(t.TempDir(), "none.sock"), Guest: []byte("x")}
	_, err := p.Create(t.Context(), sandbox.Spec{Run: "r", Started: func(string) error { return os.ErrInvalid }})
	f := fault.All(err)[0]
	require.Equal(t, []any{"JOY-NO-CONTAINERD", fault.Platform}, []any{f.Code, f.Kind})
	require.Contains(t, f.Hint, "systemctl start containerd")
}

// Before anything is made: what fails here is on no record, and leaves nothing.
func TestRefusedBeforeAnythingIsMade(t *testing.T) {
	r := newRig(t)
	never := func(string) error { t.Error("something was asked for"); return nil }
	other := "sha256:" + strings.Repeat("0", 64)
	for name, change := range map[string]func(*Provider, *sandbox.Spec) (code, says string){
		"runc": func(p *Provider, _ *sandbox.Spec) (string, string) {
			p.Runtime = "io.containerd.crun.v2"
			return "JOY-NOT-A-VM", "share this machine's kernel"
		},
		"gVisor": func(p *Provider, _ *sandbox.Spec) (string, string) {
			p.Runtime = "io.containerd.runsc.v1"
			return "JOY-NOT-A-VM", "is gVisor"
		},
		"no such image":    func(_ *Provider, s *sandbox.Spec) (string, string) { s.Image = other; return "JOY-NO-IMAGE", r.image },
		"no digest":        func(_ *Provider, s *sandbox.Spec) (string, string) { s.Image = "tiny"; return "", "pins no image" },
		"no digest at all": func(_ *Provider, s *sandbox.Spec) (string, string) { s.Image = ""; return "", "pins no image" },
		"a filter in a pin": func(_ *Provider, s *sandbox.Spec) (string, string) {
			s.Image = r.image + ",name~=."
			return "", "pins no image"
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, spec := *r.Provider, r.spec()
			spec.Started = never
			code, says := change(&p, &spec)
			_, err := p.Create(t.Context(), spec)
			require.ErrorContains(t, err, says)
			require.Equal(t, code, fault.All(err)[0].Code)
			require.NotEmpty(t, fault.All(err)[0].Hint)
		})
	}
}

func TestImageWithoutItsBytes(t *testing.T) {
	r := newRig(t)
	c, err := r.Client()
	require.NoError(t, err)
	defer c.Close()
	img, err := c.ListImages(t.Context())
	require.NoError(t, err)
	config, err := img[0].Config(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.ContentStore().Delete(t.Context(), config.Digest))
	_, err = r.Create(t.Context(), r.spec())
	require.Equal(t, "JOY-NO-IMAGE", fault.All(err)[0].Code)
}

func TestHandlerIsMissing(t *testing.T) {
	r := newRig(t)
	r.Runtime = "io.containerd.kata-absent.v2"
	_, err := r.Create(t.Context(), r.spec())
	f := fault.All(err)[0]
	require.Equal(t, "JOY-NO-RUNTIME", f.Code, "%v", err)
	require.Contains(t, f.Hint, "docs/kata.md")
	require.NotErrorIs(t, err, sandbox.ErrAlive)
	r.nothingLeft(t)
}

func TestShimIsKilledUnderACommand(t *testing.T) {
	r := newRig(t)
	b := r.create(t, r.spec())
	_, ended := under(t, b)
	pid, name := processOf(b.container)
	require.Contains(t, name, "containerd-shim")
	require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	require.ErrorIs(t, await(t, "the command", ended), sandbox.ErrLost)
	await(t, "the loss", b.Lost())
	require.ErrorIs(t, b.Err(), sandbox.ErrLost)
	require.NoError(t, b.Destroy(t.Context()))
	r.nothingLeft(t)
}

func TestGuestIsKilledUnderACommand(t *testing.T) {
	r := newRig(t)
	b := r.create(t, r.spec())
	_, ended := under(t, b)
	c, err := b.client.LoadContainer(within(t.Context()), b.container)
	require.NoError(t, err)
	task, err := c.Task(within(t.Context()), nil)
	require.NoError(t, err)
	require.NoError(t, task.Kill(within(t.Context()), unix.SIGKILL))
	require.ErrorIs(t, await(t, "the command", ended), sandbox.ErrLost)
	require.NoError(t, b.Destroy(t.Context()))
}

// The pipes lie between joy and the shim, so a step goes on while containerd is away; the VM is destroyed when it is back.
func TestContainerdIsRestartedUnderACommand(t *testing.T) {
	r := newRig(t)
	b := r.create(t, r.spec())
	w, ended := under(t, b)
	r.Down(t)
	require.NoError(t, w.Put(t.Context(), ".", []sandbox.File{empty("stop")}))
	require.NoError(t, await(t, "the command", ended))
	require.NoError(t, w.Close(t.Context()))
	destroyed := make(chan error, 1)
	go func() { destroyed <- b.Destroy(context.Background()) }()
	select {
	case err := <-destroyed:
		require.Fail(t, "nobody could tell", "%v", err)
	case <-time.After(200 * time.Millisecond): // it is on its way
	}
	r.Up(t)
	require.NoError(t, await(t, "the end", destroyed))
}

func TestDiskOfContainerdIsFull(t *testing.T) {
	r := newRig(t)
	r.Small(t)
	free := r.Fill(t)
	_, err := r.Create(t.Context(), r.spec())
	require.Equal(t, fault.Platform, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "no space left on device")
	require.NotErrorIs(t, err, sandbox.ErrAlive)

	free()
	require.NoError(t, r.create(t, r.spec()).Destroy(t.Context()), "with room it goes on")
	left, err := r.Orphans(t.Context(), func(string) bool { return false })
	require.NoError(t, err)
	for _, o := range left { // a lease that a full disk kept
		require.NoError(t, r.Reap(t.Context(), o.ID))
	}
	r.nothingLeft(t)
}

func empty(name string) sandbox.File {
	return sandbox.File{Path: name, Mode: 0o644, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }}
}

// TestCreateIsCancelled ends the making at many moments; whatever there was by then is gone when it returns.
func TestCreateIsCancelled(t *testing.T) {
	r := newRig(t)
	whole := time.Now()
	require.NoError(t, r.create(t, r.spec()).Destroy(t.Context()))
	took := time.Since(whole)
	for i := range 6 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), took*time.Duration(i)/8)
			defer cancel()
			sb, err := r.Create(ctx, r.spec())
			if err == nil {
				require.NoError(t, sb.Destroy(t.Context()))
			}
			require.NotErrorIs(t, err, sandbox.ErrAlive)
			r.nothingLeft(t)
		})
	}
}

// Nothing of another owner, and nothing without joy's labels, is seen or touched, in joy's own namespace or another.
func TestOthersAreLeftAlone(t *testing.T) {
	r := newRig(t)
	theirs := *r.Provider
	theirs.Owner = "you"
	sb, err := theirs.Create(t.Context(), r.spec())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sb.Destroy(context.Background())) })
	c, err := r.Client()
	require.NoError(t, err)
	defer c.Close()
	_, err = c.NewContainer(t.Context(), "by-hand", containerd.WithNewSpec())
	require.NoError(t, err)

	mine := r.create(t, r.spec())
	left, err := r.Orphans(t.Context(), func(string) bool { return false })
	require.NoError(t, err)
	require.Equal(t, []Orphan{{mine.Info().ID, r.spec().Run}}, left)
	left, err = r.Orphans(t.Context(), func(run string) bool { return run == r.spec().Run })
	require.NoError(t, err)
	require.Empty(t, left, "its run lives")
	require.NoError(t, r.Reap(t.Context(), mine.Info().ID))
	require.NoError(t, r.Reap(t.Context(), mine.Info().ID), "again")
	alive, err := r.Alive(t.Context(), mine.Info().ID)
	require.NoError(t, err)
	require.False(t, alive)
	await(t, "the loss", mine.Lost())

	alive, err = r.Alive(t.Context(), sb.Info().ID)
	require.NoError(t, err)
	require.True(t, alive)
	_, err = sb.Open(t.Context(), sandbox.WorldSpec{ID: "x"})
	require.NoError(t, err)
	require.NoError(t, sb.Destroy(t.Context()))
	one, err := c.LoadContainer(t.Context(), "by-hand")
	require.NoError(t, err)
	require.NoError(t, one.Delete(t.Context()))
}
