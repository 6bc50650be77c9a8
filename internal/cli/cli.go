// Package cli parses, wires and prints: a file per command, and the one place where a failure becomes an exit code.
//
// The one rule: stdout carries the product and nothing else, stderr everything for people. A command that prints a
// document with --json prints its failure as a document too.
package cli

import (
	"context"
	"io"
	"os"

	"github.com/joystream-ai/joy/internal/egress"
)

// Env is what a command may see of the process it runs in. The zero value is the real process without signals.
type Env struct {
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	LookupEnv func(key string) (string, bool)
	Dir       string           // absolute; what relative paths are relative to
	Signals   <-chan os.Signal // delivered signals; nil when nobody sends any
	// Egress reaches the hosts that a plan grants. The zero value, which joy itself uses, is this machine's resolver and
	// network; no flag and no setting leads here.
	Egress egress.Dialer
	// OperatorPolicy is a path in place of operator.DefaultPath, for tests alone.
	OperatorPolicy string
}

func (e Env) withDefaults() (Env, error) {
	if e.Stdin == nil {
		e.Stdin = os.Stdin
	}
	if e.Stdout == nil {
		e.Stdout = os.Stdout
	}
	if e.Stderr == nil {
		e.Stderr = os.Stderr
	}
	if e.LookupEnv == nil {
		e.LookupEnv = os.LookupEnv
	}
	var err error
	if e.Dir == "" {
		e.Dir, err = os.Getwd()
	}
	return e, err
}

// Main runs one command line, without the program's name, and returns its exit code. The first signal cancels the
// command's context with the signal as its cause; the second is a.signals.second; on the third Main returns at once,
// leaving the command behind.
func Main(ctx context.Context, args []string, env Env) int {
	env, err := env.withDefaults()
	a := newApp(env)
	if err != nil {
		return a.report(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.signals.watch(env.Signals, cancel)
	defer a.signals.stop()

	done := make(chan error, 1)
	go func() { done <- a.execute(ctx, args) }()
	select {
	case err := <-done:
		return a.report(withCause(ctx, err))
	case <-a.signals.third:
		return a.report(abandoned(ctx))
	}
}

// execute builds the command tree and runs args on it.
func (a *app) execute(ctx context.Context, args []string) error {
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.ran { // the flags were not all read, but the error still comes in the form that was asked for
		a.json = a.json || asksForJSON(args)
		return usage(err, "run %q", "joy --help")
	}
	return err
}

// asksForJSON finds --json before flags are parsed.
func asksForJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}
