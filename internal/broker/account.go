package broker

import (
	"fmt"
	"sync"

	"github.com/joystream-ai/joy/internal/fault"
)

// What a step may do at its door before the door closes for good and the step fails.
const (
	maxDenials = 1_000
	maxStreams = 256 // at once
	maxNames   = 20  // under one wildcard
)

// account is what one step has done at its door. It outlives the step's tokens: a step has one account in a run.
type account struct {
	mu      sync.Mutex
	denials int
	streams int
	names   map[string]map[string]bool // by wildcard
	closed  error                      // why the door is closed
}

func newAccount() *account {
	return &account{names: map[string]map[string]bool{}}
}

// account of step, made at first use.
func (b *Broker) account(step string) *account {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accounts[step]
	if a == nil {
		a = newAccount()
		b.accounts[step] = a
	}
	return a
}

// shut closes a step's door: its tokens are worth nothing any more, what is open is cut, and whoever runs the step is
// told once. It must not be called with the account locked.
func (b *Broker) shut(step string, why error) {
	a := b.account(step)
	a.mu.Lock()
	first := a.closed == nil
	if first {
		a.closed = why
	}
	a.mu.Unlock()
	if !first {
		return
	}
	b.doors.cut(step)
	if b.cfg.Breach != nil {
		b.cfg.Breach(step, why)
	}
}

// denial counts a refused request. It is recorded as long as last is not past.
func (a *account) denial() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denials++
	return a.denials
}

// name takes a name under a wildcard into use. It reports false when there are too many.
func (a *account) name(wildcard, host string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := a.names[wildcard]
	if seen == nil {
		seen = map[string]bool{}
		a.names[wildcard] = seen
	}
	if !seen[host] && len(seen) == maxNames {
		return false
	}
	seen[host] = true
	return true
}

// stream takes a place for something that stays open; the caller gives it back with leave.
func (a *account) stream() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.streams == maxStreams {
		return false
	}
	a.streams++
	return true
}

func (a *account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.streams--
}

func (a *account) isClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed != nil
}

func tooMany(n int, what string) error {
	return fault.New(fault.Policy, "the step's door is closed: %d %s", n, what).
		WithHint("the broker ends a step that goes on asking for what it may not have")
}

var (
	errDenials = tooMany(maxDenials, "requests were refused")
	errStreams = fmt.Errorf("more than %d connections at once", maxStreams)
)
