//go:build linux

package kata

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
)

// here is a machine that has been up for an hour.
var here = kernel{"588a4d43", time.Hour, time.Hour + time.Second}

func guestOf(id string, up time.Duration) guestproto.Boot {
	return guestproto.Boot{BootID: id, Boottime: int64(up)}
}

func TestCheckKernel(t *testing.T) {
	gvisor := guestproto.Boot{Boottime: int64(time.Second), GVisor: true}
	for name, tc := range map[string]struct {
		promised class
		guest    guestproto.Boot
		says     string
	}{
		"runc by another name":                      {classVM, guestOf(here.id, here.from), "shares this machine's kernel"},
		"a boot id, whatever the clock":             {classVM, guestOf(here.id, time.Second), "shares this machine's kernel"},
		"a container that hides the boot id":        {classVM, guestOf("made-up", here.from+time.Millisecond), "shares this machine's kernel"},
		"a container without one":                   {classVM, guestOf("", here.until), "shares this machine's kernel"},
		"gVisor by Kata's name":                     {classVM, gvisor, "is gVisor under another name"},
		"gVisor that has a boot id":                 {classVM, guestproto.Boot{BootID: "x", GVisor: true}, "is gVisor under another name"},
		"a kernel of no kind":                       {classVM, guestOf("", time.Second), "is not Linux"},
		"runc by gVisor's name":                     {classGVisor, guestOf(here.id, here.from), "shares this machine's kernel"},
		"runc by gVisor's name, hidden":             {classGVisor, guestOf("", here.from), "shares this machine's kernel"},
		"a VM by gVisor's name":                     {classGVisor, guestOf("other", time.Second), "is not gVisor"},
		"gVisor on a kernel that claims to be ours": {classGVisor, guestproto.Boot{BootID: here.id, GVisor: true}, "shares this machine's kernel"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkKernel(tc.promised, DefaultRuntime, tc.guest, here)
			require.ErrorContains(t, err, tc.says)
			first := fault.All(err)[0]
			require.Equal(t, []any{"JOY-NOT-A-VM", fault.Policy}, []any{first.Code, first.Kind})
			require.NotEmpty(t, first.Hint)
		})
	}
	require.NoError(t, checkKernel(classVM, DefaultRuntime, guestOf("other", time.Second), here))
	require.NoError(t, checkKernel(classVM, DefaultRuntime, guestOf("other", here.from-1), here), "a VM of before this one's request is as old as it says")
	require.NoError(t, checkKernel(classGVisor, "io.containerd.runsc.v1", gvisor, here))
}

// systemd-nspawn lays a file of its own over the kernel's.
func TestBootIDThatIsNotTheKernels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "boot_id")
	_, err := bootID(file)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte("3b1b4f0e-0000-4000-8000-000000000000\n"), 0o600))
	_, err = bootID(file)
	require.ErrorContains(t, err, "hides its kernel's boot id")
	require.NotEmpty(t, fault.All(err)[0].Hint)
	id, err := bootID(bootIDFile)
	require.NoError(t, err)
	require.Len(t, id, 36)
}

// A handler that has Kata's name and makes no VMs is found out before a step is in it, and has set nothing in this kernel.
func TestHandlerThatOnlySoundsLikeKata(t *testing.T) {
	for _, how := range []string{katatest.ByLink, katatest.ByScript} {
		t.Run(how, func(t *testing.T) {
			r := newRigWith(t, katatest.Pretend(t, how))
			was := door
			t.Cleanup(func() { door = was })
			r.Runtime, door = DefaultRuntime, ""
			const limit = "/proc/sys/user/max_user_namespaces"
			before, err := os.ReadFile(limit)
			require.NoError(t, err)
			_, err = r.Create(t.Context(), r.spec())
			require.ErrorContains(t, err, "shares this machine's kernel")
			first := fault.All(err)[0]
			require.Equal(t, []any{"JOY-NOT-A-VM", fault.Policy}, []any{first.Code, first.Kind})
			require.NotErrorIs(t, err, sandbox.ErrAlive)
			after, err := os.ReadFile(limit)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after))
			r.nothingLeft(t)
		})
	}
}

// What the guest says of the kernel is what joy says of it.
func TestGuestOnThisKernel(t *testing.T) {
	r := newRig(t)
	if door == "" {
		t.Skip("Kata's own runtime makes VMs")
	}
	from := boottime()
	boot := r.create(t, r.spec()).Client.Boot()
	id, err := bootID(bootIDFile)
	require.NoError(t, err)
	require.Equal(t, id, boot.BootID)
	require.False(t, boot.GVisor)
	require.Greater(t, boot.Boottime, int64(from))
	require.Less(t, boot.Boottime, int64(boottime()))
	boot.BootID = "hidden"
	require.ErrorContains(t, checkKernel(classVM, r.Runtime, boot, kernel{id, from, boottime()}), "shares this machine's kernel")
}
