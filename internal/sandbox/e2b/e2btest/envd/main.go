//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// What the program is called is what it does.
const (
	nameNamespace = "machine" // first process of a machine made of namespaces
	nameDaemon    = "envd"    // the daemon, its child
)

func main() {
	var err error
	switch name := filepath.Base(os.Args[0]); {
	case name == nameDaemon:
		err = serve()
	case os.Getpid() == 1 && name == nameNamespace:
		err = runNamespace()
	case os.Getpid() == 1 && name == nameVM:
		err = runVM()
	default:
		err = fmt.Errorf("envd is started by e2btest alone, not as %q", name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "envd:", err)
		os.Exit(1)
	}
}
