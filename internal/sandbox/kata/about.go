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

// Shim is the program that containerd starts for a runtime
// (https://github.com/containerd/containerd/blob/main/core/runtime/v2/README.md).
func Shim(runtime string) string {
	name := strings.Split(runtime, ".")
	return "containerd-shim-" + strings.Join(name[max(0, len(name)-2):], "-")
}
