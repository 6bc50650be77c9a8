// Package kata makes the VM of a run with Kata Containers: one container, which is one VM, through the containerd that is
// on this machine already.
//
// The one rule: what joy makes there is labelled with its run, and nothing else is touched. All of it is on the run's
// record before it is asked for, and counts as gone when containerd, the process list and Kata's directories say so.
package kata

// Name is what the plan and the ledger call the provider.
const Name = "kata"

// Namespace is joy's own in containerd: no other client's image, container or snapshot is seen there.
const Namespace = "joy"

// Where containerd listens and what makes its containers VMs, unless the user's configuration says otherwise.
const (
	DefaultAddress = "/run/containerd/containerd.sock"
	DefaultRuntime = "io.containerd.kata.v2"
)
