// Package guest is the executor inside a VM: it boots the VM as init, makes a world for each step, runs commands there
// and relays the broker's door. It never decides anything; the host does.
//
// The one rule: nothing a workload does may wedge it. It streams and never buffers without bound, its own processes
// are out of the workload's reach, and when the host's end of the channel is closed the VM powers off.
package guest
