//go:build linux

package microvm

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox"
)

func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(openDir(t), "qemu")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return path
}

func TestCreateWithoutAWorkingQEMU(t *testing.T) {
	p, spec := testProvider(t)
	p.Accel = "tcg"
	ready := `printf '` + guestproto.Ready + `' >&3`
	for name, tc := range map[string]struct{ script, want string }{
		"ends at once":         {`exit 3`, "exit status 3"},
		"says why":             {`echo "could not allocate memory" >&2; exit 1`, "could not allocate memory"},
		"closes the channel":   {`exec 3>&-; sleep 1000`, "EOF"},
		"says something else":  {`printf 'SeaBIOS' >&3; sleep 1000`, "another protocol"},
		"is ready, then ends":  {ready + `; head -c 1 <&3 >/dev/null; exit 0`, "the VM is gone"},
		"is ready, then raves": {ready + `; yes >&3`, "broke the protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			q := *p
			q.QEMU = program(t, tc.script)
			var id string
			spec.Started = func(started string) error { id = started; return nil }
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			_, err := q.Create(ctx, spec)
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, strings.Contains(name, "else"), strings.Contains(err.Error(), "another protocol"), "%v", err)
			require.Equal(t, fault.Platform, fault.KindOf(err))
			require.NotErrorIs(t, err, sandbox.ErrAlive)
			if id != "" {
				gone(t, &q, id)
			}
		})
	}
	t.Run("is killed", func(t *testing.T) {
		q := *p
		q.QEMU = program(t, `exec sleep 1000`)
		spec.Started = func(started string) error {
			was, err := Reap(started)
			require.True(t, was)
			return err
		}
		_, err := q.Create(t.Context(), spec)
		require.ErrorContains(t, err, "signal: killed")
		require.Equal(t, fault.Platform, fault.KindOf(err))
	})
	t.Run("is root's alone", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("QEMU has the tester's own uid")
		}
		q := *p
		q.QEMU = program(t, `exec sleep 1000`)
		require.NoError(t, os.Chmod(q.QEMU, 0o700))
		_, err := q.Create(t.Context(), spec)
		require.ErrorContains(t, err, "permission denied")
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Contains(t, f.Hint, "every user must be able to execute "+q.QEMU)
	})
	t.Run("never answers", func(t *testing.T) {
		q := *p
		q.QEMU = program(t, `exec sleep 1000`)
		var id string
		spec.Started = func(started string) error { id = started; return nil }
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := q.Create(ctx, spec)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		gone(t, &q, id)
	})
}

func TestCreateRefuses(t *testing.T) {
	p, spec := testProvider(t)
	for name, tc := range map[string]struct {
		change func(*Provider, *sandbox.Spec)
		kind   fault.Kind
		want   string
	}{
		"no QEMU":        {func(p *Provider, _ *sandbox.Spec) { p.QEMU = "no-such-qemu" }, fault.Platform, "not installed"},
		"no image":       {func(_ *Provider, s *sandbox.Spec) { s.Image = "sha256:" + strings.Repeat("0", 64) }, fault.Platform, "find image"},
		"no digest":      {func(_ *Provider, s *sandbox.Spec) { s.Image = "tiny" }, fault.Input, "bad image digest"},
		"no such accel":  {func(p *Provider, _ *sandbox.Spec) { p.Accel = "warp" }, fault.Platform, "auto, kvm or tcg"},
		"not emulated":   {func(p *Provider, s *sandbox.Spec) { p.Accel, s.Isolation = "tcg", "hardware" }, fault.Policy, "hardware isolation"},
		"no room at all": {func(p *Provider, _ *sandbox.Spec) { p.Accel, p.Scratch = "tcg", "/no/such/directory" }, fault.Platform, "scratch disk"},
	} {
		t.Run(name, func(t *testing.T) {
			q, s := *p, spec
			tc.change(&q, &s)
			s.Started = func(string) error { require.Fail(t, "something was started"); return nil }
			_, err := q.Create(t.Context(), s)
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, tc.kind, fault.KindOf(err))
		})
	}
	require.ErrorIs(t, func() error {
		s := spec
		s.Image = "sha256:" + strings.Repeat("0", 64)
		_, err := p.Create(t.Context(), s)
		return err
	}(), image.ErrNotFound)
}

func TestTail(t *testing.T) {
	var console bytes.Buffer
	tl := &tail{also: &console}
	for range 1000 {
		n, err := tl.Write(bytes.Repeat([]byte("0123456789abcdef"), 64))
		require.NoError(t, err)
		require.Equal(t, 1024, n)
	}
	require.Equal(t, consoleSize, console.Len(), "the console is bounded")
	require.Len(t, tl.String(), tailSize)

	_, err := tl.Write([]byte("\x1b[2Jlast\r\n\x00words \xff caf\xc3\xa9\n"))
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(tl.String(), "?[2Jlast ?words ? café"), "%q", tl.String())
	require.LessOrEqual(t, len(tl.buf), tailSize)
}
