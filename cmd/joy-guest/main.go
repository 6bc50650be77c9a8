//go:build linux

// joy-guest is the executor inside a VM; see internal/guest.
package main

import (
	"os"

	"github.com/joystream-ai/joy/internal/guest"
)

func main() { os.Exit(guest.Main(os.Args, os.Stderr)) }
