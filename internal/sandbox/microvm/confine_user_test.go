//go:build linux

package microvm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// Ids of users who are nobody on this machine.
const (
	plainUser = 31337
	inside    = 1000 // what the one of a user namespace is called in it
)

// insideOnly is the variable by which tests know the user namespace that they are made for.
const insideOnly = "JOY_TEST_NAMESPACES_REFUSED"

// TestAsAnOrdinaryUser runs the tests of this file's neighbours once more, as somebody who is not root.
func TestAsAnOrdinaryUser(t *testing.T) {
	needsRoot(t)
	h := newHome(t, plainUser)
	cmd := h.command(h.program, "-test.run", "^(TestWhatIsHeldCannot|TestTwoVMs|TestWhatIsMissingIsSaid|TestInheritedDescriptors|TestQEMUIsHeld|TestVMIsKilled|TestJoyDies|TestJoyDiesAlone)$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: plainUser, Gid: plainUser}}
	h.passes(cmd, 8)
}

// TestNamespacesRefused runs TestWithoutNamespaces where the kernel makes none: in a user namespace whose limits are 0.
func TestNamespacesRefused(t *testing.T) {
	needsRoot(t)
	h := newHome(t, plainUser)
	cmd := h.command(h.program, "refuse", strconv.Itoa(inside), h.program, "-test.run", "^TestWithoutNamespaces$")
	cmd.Env = append(cmd.Env, insideOnly+"=1")
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: plainUser + 1, Size: 1}, {ContainerID: inside, HostID: plainUser, Size: 1}}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids, GidMappingsEnableSetgroups: true,
		Credential: &syscall.Credential{},
	}
	h.passes(cmd, 1)
}

// TestWithoutNamespaces: a VM runs, held by what is left, and the record says what is missing and why.
func TestWithoutNamespaces(t *testing.T) {
	if os.Getenv(insideOnly) == "" {
		t.Skip("TestNamespacesRefused runs it")
	}
	require.Equal(t, inside, os.Geteuid())
	for name, came := range probed(t, newTarget(t)) {
		require.NotEqual(t, "done", came, name)
	}
	p, spec := testProvider(t)
	v, _ := running(t, p, spec)
	require.Contains(t, v.Info().Reduced, "namespaces: ")
	require.Contains(t, v.Info().Reduced, unix.ENOSPC.Error())
	require.Equal(t, "reduced ("+v.Info().Reduced+"): no network device, landlock, seccomp", v.Info().Confinement)
	err := v.proc.held("hardware")
	require.ErrorContains(t, err, "namespaces: ")
	require.Equal(t, fault.Platform, fault.KindOf(err))
	id := v.Info().ID
	require.NoError(t, v.Destroy(context.Background()))
	gone(t, p, id)
}

func needsRoot(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a VM")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
}

var passed = regexp.MustCompile(`(?m)^--- PASS: `)

// home is what a test program needs to run as somebody else.
type home struct {
	t            *testing.T
	dir, program string
}

// newHome has this test's program, joy-guest and the tiny image; it belongs to uid.
func newHome(t *testing.T, uid int) *home {
	t.Helper()
	h := &home{t: t, dir: openDir(t), program: selfCopy(t)}
	cache, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(t, err)
	img, err := image.Latest(cache, "tiny")
	require.NoError(t, err, "run script/test once: it builds the image")
	theirs := filepath.Join(h.dir, ".cache", "joy")
	require.NoError(t, os.CopyFS(filepath.Join(theirs, "images", filepath.Base(img.Dir)), os.DirFS(img.Dir)))
	require.NoError(t, os.CopyFS(filepath.Join(theirs, "profiles"), os.DirFS(filepath.Join(cache, "profiles"))))
	guest := sandboxtest.Guest(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "joy-guest"), guest, 0o644))
	require.NoError(t, filepath.WalkDir(h.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	}))
	return h
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], append(args[1:], "-test.v")...)
	cmd.Dir = h.dir
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + h.dir, "TMPDIR=" + h.dir, "JOY_ACCEL=" + os.Getenv("JOY_ACCEL"),
		sandboxtest.BuiltGuest + "=" + filepath.Join(h.dir, "joy-guest"),
	}
	return cmd
}

// passes requires that cmd, this test's program, runs n tests and passes them all.
func (h *home) passes(cmd *exec.Cmd, n int) {
	h.t.Helper()
	out, err := cmd.CombinedOutput()
	require.NoError(h.t, err, "%s", out)
	require.Len(h.t, passed.FindAll(out, -1), n, "%s", out)
}
