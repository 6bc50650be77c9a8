package broker

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// drainLimit bounds the wait for what is open at a step's door when the step has ended and the door is cut.
const drainLimit = 15 * time.Second

// What a step may do at its door before the door closes for good and the step fails.
const (
	maxDenials = 1_000
	maxCalls   = 10_000
	maxStreams = 256 // tunnels and calls at once
	maxNames   = 20  // under one wildcard
)

// account is what one step has done at its door. It outlives the step's tokens: a step has one account in a run.
type account struct {
	mu      sync.Mutex
	denials int
	streams int
	empty   sync.Cond // of streams
	over    bool      // the step has ended
	calls   int
	used    map[string]int             // calls of an action
	denied  Denied                     // of actions
	names   map[string]map[string]bool // by wildcard
	closed  error                      // why the door is closed
	breach  func(error)                // of the last Issue
}

// Denied is what a step asked of actions and was denied by the plan or by a person.
type Denied struct {
	Calls int
	First error
}

func newAccount() *account {
	a := &account{used: map[string]int{}, names: map[string]map[string]bool{}}
	a.empty.L = &a.mu
	return a
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

// begin lets the step in. breach is told when its door is closed for good.
func (a *account) begin(breach func(error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.breach, a.over = breach, false
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
	breach := a.breach
	a.mu.Unlock()
	if !first {
		return
	}
	if breach != nil { // before the cut: who is told of the step's end must find the reason
		breach(why)
	}
	b.doors.cut(step)
}

// Denied says what calls a step was denied so far. Arguments that a tool does not take are not among them: a step may
// learn from those.
func (b *Broker) Denied(step string) Denied {
	a := b.account(step)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.denied
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

// spend counts a call by a grant, and says why it is one too many.
func (a *account) spend(action string, most int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == maxCalls {
		return errCalls
	}
	if most > 0 && a.used[action] == most {
		return fmt.Errorf("the plan grants this step %d of it, which are used", most)
	}
	a.calls++
	a.used[action]++
	return nil
}

// left is how many calls of an action remain by a grant; -1: as many as the door allows.
func (a *account) left(action string, most int) int {
	if most == 0 {
		return -1
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(0, most-a.used[action])
}

// deny counts a denied call.
func (a *account) deny(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.denied.Calls++; a.denied.First == nil {
		a.denied.First = why
	}
}

// enter takes a place at a step's door for something that stays open; the caller gives it back with leave. One too many
// closes the door.
func (b *Broker) enter(step string) error {
	a := b.account(step)
	err := a.enter()
	if errors.Is(err, errStreams) {
		b.shut(step, err)
	}
	return err
}

func (a *account) enter() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.over:
		return errOver
	case a.streams == maxStreams:
		return errStreams
	}
	a.streams++
	return nil
}

func (a *account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.streams--; a.streams == 0 {
		a.empty.Broadcast()
	}
}

// drain lets nothing more in and waits until everything that was open has left, so that what it writes is on record
// before the end of its step is.
func (a *account) drain() {
	late := false
	timer := time.AfterFunc(drainLimit, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		late = true
		a.empty.Broadcast()
	})
	defer timer.Stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for a.streams > 0 && !late {
		a.empty.Wait()
	}
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
	errCalls   = tooMany(maxCalls, "calls were made")
	errOver    = fault.New(fault.Policy, "the step has ended")
	errStreams = tooMany(maxStreams, "tunnels and calls were open at once")
)
