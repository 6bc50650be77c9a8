package guestproto

import (
	"fmt"
	"strings"
)

// Host is how joy-guest is started in a VM that has an init of its own: as root, as an ordinary process.
type Host struct {
	// Stdio: its standard streams lead to the host. Else carriers of a Pipe do, which come to it.
	Stdio bool
	// Scratch is a block device with an ext4 file system. "": the guest finds a place.
	Scratch string
	// Kernel is the boot id of the host's kernel (random(4)), where the host is on the same machine: a guest that finds
	// itself on that kernel sets nothing in it.
	Kernel string
}

const (
	wordHost    = "host"
	wordStdio   = "stdio"
	wordKernel  = "host-kernel="
	wordScratch = "scratch="
)

// Args follow the program's name.
func (h Host) Args() []string {
	args := []string{wordHost}
	if h.Stdio {
		args = append(args, wordStdio)
	}
	if h.Scratch != "" {
		args = append(args, wordScratch+h.Scratch)
	}
	if h.Kernel != "" {
		args = append(args, wordKernel+h.Kernel)
	}
	return args
}

// ParseHost reads Args, but for the first.
func ParseHost(words []string) (Host, error) {
	var h Host
	for _, word := range words {
		device, isScratch := strings.CutPrefix(word, wordScratch)
		kernel, isKernel := strings.CutPrefix(word, wordKernel)
		switch {
		case isScratch && strings.HasPrefix(device, "/dev/"):
			h.Scratch = device
		case word == wordStdio:
			h.Stdio = true
		case isKernel && kernel != "":
			h.Kernel = kernel
		default:
			return Host{}, fmt.Errorf("joy-guest %s knows no %q", wordHost, word)
		}
	}
	return h, nil
}
