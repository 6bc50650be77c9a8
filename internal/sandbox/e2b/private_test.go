//go:build linux

package e2b

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// TestContractWithoutOverlay holds a guest whose kernel has no overlay to the groups that such a world has to do with; what
// differs, a read-only image and no layers, is below.
func TestContractWithoutOverlay(t *testing.T) {
	r := newRig(t, e2btest.Options{Runner: e2btest.Namespaces{NoOverlay: true}})
	sandboxtest.Run(t, func(ctx context.Context, want sandbox.Spec) (sandbox.Sandbox, error) {
		want.Image = r.spec().Image
		return r.Create(ctx, want)
	}, "output", "input", "ending", "kill", "limits", "layers", "surroundings", "isolation", "confinement", "worlds", "sandbox")
}

// A disk that cannot be made small is one of which the ledger says how much of it steps may fill; memory in its place can.
func TestDiskOfAnotherKind(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	sb := r.create(t, r.spec())
	require.Regexp(t, `of the disk steps may fill [0-9]{3} MiB, and not the plan's 64 alone \(its kind keeps none back\)`, sb.Info().Reduced)
	spec := r.spec()
	spec.Disk = 1 << 40
	require.Regexp(t, `[0-9]{3} MiB of disk of 1048576: the template has no more free`, r.create(t, spec).Info().Reduced)
}

func TestPrivateDirectories(t *testing.T) {
	r := newRig(t, e2btest.Options{Runner: e2btest.Namespaces{NoOverlay: true}})
	sb := r.create(t, r.spec())
	const words = "there is no overlayfs (mounting overlay on /image: no such device)"
	require.Contains(t, sb.Info().Reduced, words)
	require.True(t, strings.HasPrefix(sb.Info().Confinement, "reduced ("), sb.Info().Confinement)
	require.Contains(t, sb.Info().Confinement, words)

	_, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: "setup", Keep: "setup"})
	require.ErrorContains(t, err, "nothing that a setup writes can be kept")
	one, other := openWorld(t, sb, "one"), openWorld(t, sb, "other")
	for name, test := range map[string]struct {
		script string
		fails  bool
	}{
		"its own":           {script: `for d in /tmp /root /run /var/tmp; do test ! -d $d || echo x >$d/x || exit 1; done; stat -c %a /tmp | grep 1777`},
		"its workspace":     {script: `echo x >/workspace/x && mv /workspace/x /workspace/out/`},
		"the image":         {script: `echo x >/etc/x || echo x >/usr/local/x || echo x >/bin/x`, fails: true},
		"a file of it":      {script: `echo x >>/etc/passwd`, fails: true},
		"the worlds":        {script: `ls -A / | grep joy || ls /.joy`, fails: true},
		"joy-guest":         {script: `joy-guest help | grep tools && ! echo x >>/usr/local/bin/joy-guest`},
		"joy's own names":   {script: `grep localhost /etc/hosts && hostname | grep joy`},
		"a mount":           {script: `mount -t tmpfs t /tmp`, fails: true},
		"one that was read": {script: `umount /etc || mount -o remount,rw /etc`, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			code, said := runShell(t, one, test.script)
			require.Equal(t, test.fails, code != 0, said)
		})
	}
	code, said := runShell(t, other, `ls /tmp/x /root/x /run/x /var/tmp/x`)
	require.NotZero(t, code, said)
	require.NotContains(t, strings.ReplaceAll(said, "No such file", ""), "\n/")
}

func openWorld(t testing.TB, sb sandbox.Sandbox, id string) sandbox.World {
	t.Helper()
	w, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: id, Env: map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin:/sbin"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close(context.Background())) })
	return w
}

func runShell(t *testing.T, w sandbox.World, script string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	res, err := w.Run(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", script}}, &out, &out)
	require.NoError(t, err, out.String())
	return res.ExitCode, out.String()
}
