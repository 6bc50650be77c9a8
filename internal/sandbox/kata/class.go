package kata

import (
	"regexp"

	"github.com/joystream-ai/joy/internal/fault"
)

// class is what stands between a container of a runtime and this machine's kernel.
type class string

const (
	classVM     class = "vm"
	classGVisor class = "gvisor" // a kernel written in Go, in user space
	classNone   class = "none"   // the kernel is shared
)

var (
	kataRuntimes   = regexp.MustCompile(`^io\.containerd\.kata(-[a-z0-9-]+)?\.v2$`)
	gvisorRuntimes = regexp.MustCompile(`^io\.containerd\.runsc\.v[0-9]+$`)
)

// door names a runtime that is let in though it gives no VM. Only the linker of a test's program sets it; what is shipped
// has none.
var door string

// classOf refuses a runtime whose containers are no VMs. gVisor is taken when the operator allows it.
func classOf(runtime string, gvisor bool) (class, error) {
	switch {
	case kataRuntimes.MatchString(runtime):
		return classVM, nil
	case gvisorRuntimes.MatchString(runtime) && gvisor:
		return classGVisor, nil
	case door != "" && runtime == door:
		return classNone, nil
	}
	what := "is no runtime of Kata Containers: its containers share this machine's kernel, and joy runs a skill's code in a VM only"
	hint := "set kata_runtime (JOY_KATA_RUNTIME) to " + DefaultRuntime + ", or another io.containerd.kata-….v2"
	if gvisorRuntimes.MatchString(runtime) {
		what = "is gVisor: a kernel of its own, and no VM"
		hint += "; the operator of this machine can allow it with runtimes: [gvisor] in the policy"
	}
	e := fault.New(fault.Policy, "the runtime %s %s", runtime, what).WithHint("%s", hint)
	e.Code = "JOY-NOT-A-VM"
	return "", e
}
