// Command joy freezes and runs agents on your own machine or in CI. Everything it does is in internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/joystream-ai/joy/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	// A reader of stdout that goes away must not take a run with it: writes fail with EPIPE instead of killing joy.
	// Notify rather than Ignore, which the programs that joy starts would inherit.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	return cli.Main(context.Background(), os.Args[1:], cli.Env{Signals: signals})
}
