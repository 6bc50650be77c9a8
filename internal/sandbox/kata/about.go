package kata

import "strings"

// About is what containerd says of itself.
type About struct {
	Version string
	Images  []Image // in joy's namespace
}

// Image is one container image there.
type Image struct {
	Name   string
	Digest string // of its manifest, as a lock pins it
}

// k3sAddress is where the containerd listens that k3s brings, and with it a client.
const k3sAddress = "/run/k3s/containerd/containerd.sock"

// Ctr begins a command of containerd's own client, for a person to type.
func Ctr(address string) string {
	switch address {
	case "", DefaultAddress:
		return "sudo ctr -n " + Namespace
	case k3sAddress:
		return "sudo k3s ctr -n " + Namespace
	}
	return "sudo ctr -a " + address + " -n " + Namespace
}

// Shim is the program that containerd starts for a runtime
// (https://github.com/containerd/containerd/blob/main/core/runtime/v2/README.md).
func Shim(runtime string) string {
	name := strings.Split(runtime, ".")
	return "containerd-shim-" + strings.Join(name[max(0, len(name)-2):], "-")
}
