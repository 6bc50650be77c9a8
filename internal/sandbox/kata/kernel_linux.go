package kata

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/guestproto"
)

// kernel is this machine's: the id of this boot, and how long it had been up (clock_gettime(2), CLOCK_BOOTTIME) before and
// after a guest said how long its own had been.
type kernel struct {
	id          string
	from, until time.Duration
}

// checkKernel holds that a guest's kernel is what the runtime's name promises, whatever the runtime really runs: its shim
// may be a link to another, or a script. A container of runc's tells this machine's boot id, or, where something hides
// that, is as old as this machine: no VM can be, which was booted later. gVisor has no boot id, and says who it is.
func checkKernel(promised class, runtime string, guest guestproto.Boot, host kernel) error {
	up := time.Duration(guest.Boottime)
	shared := guest.BootID == host.id || up >= host.from && up <= host.until
	what, hint := "", "install Kata Containers as docs/kata.md describes; joy doctor"
	switch {
	case shared:
		what = "shares this machine's kernel: its containers are no VMs"
	case promised == classVM && guest.GVisor:
		what = "is gVisor under another name, and no VM"
		hint += "; gVisor is io.containerd.runsc.v1, which the operator of this machine can allow"
	case promised == classVM && guest.BootID == "":
		what = "has a kernel that is not Linux, which joy cannot tell from this machine's"
	case promised == classGVisor && !guest.GVisor:
		what, hint = "is not gVisor, which its name promises", "install gVisor's own containerd-shim-runsc-v1, or set kata_runtime (JOY_KATA_RUNTIME) to "+DefaultRuntime
	default:
		return nil
	}
	e := fault.New(fault.Policy, "the runtime %s %s", runtime, what).WithHint("%s", hint)
	e.Code = "JOY-NOT-A-VM"
	return e
}

const bootIDFile = "/proc/sys/kernel/random/boot_id"

// bootID names this boot of this machine's kernel (random(4)). A file of another kind that lies over the kernel's, as
// systemd-nspawn lays one, is refused: a guest could not be told what kernel it must set nothing in.
func bootID(file string) (string, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(file, &fs); err != nil {
		return "", fmt.Errorf("asking for this kernel's boot id: %w", err)
	}
	if fs.Type != unix.PROC_SUPER_MAGIC {
		return "", fault.New(fault.Platform, "this is a container that hides its kernel's boot id: joy could not tell a VM from a container beside it").
			WithHint("run joy where containerd runs, outside of the container")
	}
	id, err := os.ReadFile(file)
	return strings.TrimSpace(string(id)), err
}

// boottime is how long this machine has been up.
func boottime() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) // it fails for a clock that there is not
	return time.Duration(now.Nano())
}
