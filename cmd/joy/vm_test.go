package main

import (
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/joystream-ai/joy/internal/image"
)

// slots bounds the tests that have a VM at once: under emulation each takes a processor for seconds.
var slots = make(chan struct{}, 2)

// storyVM lets a story boot VMs, which it does under emulation so that every machine tells the same story. It waits
// for its turn. The story's line before it is "[short] skip".
func storyVM(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: vm")
	}
	if err := tinyImage(); err != nil {
		ts.Fatalf("%v", err)
	}
	ts.Setenv("XDG_CACHE_HOME", ts.Getenv("TESTER_CACHE"))
	ts.Setenv("JOY_ACCEL", "tcg")
	slots <- struct{}{}
	ts.Defer(func() { <-slots })
}

func tinyImage() error {
	_, err := image.Latest(filepath.Join(testerCache(), "joy"), "tiny")
	return err
}
