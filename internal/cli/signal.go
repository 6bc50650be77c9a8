package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/joystream-ai/joy/internal/fault"
)

// interrupted is the cause of a context that a signal cancelled.
type interrupted struct{ signal os.Signal }

func (i *interrupted) Error() string { return "stopped by " + i.signal.String() }

// exitCode is 128 and the signal's number, as shells count.
func (i *interrupted) exitCode() int {
	if s, ok := i.signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 130
}

// signals counts what arrives: a person who presses Ctrl-C again means it more each time.
type signals struct {
	second chan struct{} // closed at the second signal: skip what can be skipped, still destroy the VM
	third  chan struct{} // closed at the third: leave now
	quit   chan struct{}
	once   sync.Once
}

func newSignals() *signals {
	return &signals{second: make(chan struct{}), third: make(chan struct{}), quit: make(chan struct{})}
}

func (s *signals) watch(in <-chan os.Signal, cancel context.CancelCauseFunc) {
	if in == nil {
		return
	}
	go func() {
		for n := 1; n <= 3; n++ {
			select {
			case sig := <-in:
				switch n {
				case 1:
					cancel(&interrupted{sig})
				case 2:
					close(s.second)
				case 3:
					close(s.third)
				}
			case <-s.quit:
				return
			}
		}
	}()
}

func (s *signals) stop() { s.once.Do(func() { close(s.quit) }) }

// withCause puts the signal that ended ctx in front of the failure it brought about.
func withCause(ctx context.Context, err error) error {
	var in *interrupted
	if err == nil || !errors.As(context.Cause(ctx), &in) || errors.As(err, &in) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return in // the rest of the tree only says that something was cancelled
	}
	return fmt.Errorf("%w: %w", in, err)
}

// abandoned is the failure of a command that was left behind with whatever it had started.
func abandoned(ctx context.Context) error {
	e := fault.Wrap(fault.Platform, context.Cause(ctx), "left before the command had ended; a VM may still be alive").
		WithHint("run \"joy gc\" to destroy what is left")
	e.Code = codeVMAlive
	return e
}
