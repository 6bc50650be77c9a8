//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// nameDaemon is what the daemon is called. The first process of a machine starts it.
const nameDaemon = "envd"

func main() {
	var err error
	switch name := filepath.Base(os.Args[0]); {
	case name == nameDaemon:
		err = serve()
	case os.Getpid() == 1 && name == nameVM:
		err = runVM()
	case os.Getpid() == 1:
		err = runNamespace()
	default:
		err = fmt.Errorf("envd is started by e2btest alone, not as %q", name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "envd:", err)
		os.Exit(1)
	}
}
