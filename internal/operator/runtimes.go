package operator

import "slices"

// GVisor is the one word of the key runtimes: containers of gVisor may take the place of VMs of Kata's.
const GVisor = "gvisor"

// AllowGVisor is the one thing that is refused unless a policy names it, since joy promises a VM: the policy of the machine,
// whose path is given, must, and no other may leave it out of a list of its own.
func (ps Policies) AllowGVisor(machine string) bool {
	allowed := false
	for _, p := range ps {
		names := slices.Contains(p.Runtimes, GVisor)
		if p.Runtimes != nil && !names {
			return false
		}
		allowed = allowed || names && p.File == machine
	}
	return allowed
}
