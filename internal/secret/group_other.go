//go:build !unix

package secret

import "os/exec"

// ownGroup leaves the program alone: it is killed by itself when joy gives up on it.
func ownGroup(*exec.Cmd) {}
