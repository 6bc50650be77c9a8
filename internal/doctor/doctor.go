// Package doctor finds out whether this machine can run agents, and what to do where it cannot.
//
// The one rule: a check looks and changes nothing, and one that is not ok names the command that fixes it.
package doctor

import (
	"context"

	"github.com/joystream-ai/joy/internal/queue"
)

// Status is how a check ended.
type Status string

// The three ends of a check.
const (
	OK   Status = "ok"
	Warn Status = "warn" // agents run, with less than they could have
	Fail Status = "fail" // no agent that needs a VM runs here
)

// Check is one finding.
type Check struct {
	ID     string `json:"id"` // stable: qemu, kvm, image, …
	Status Status `json:"status"`
	Detail string `json:"detail"` // what was seen
	Fix    string `json:"fix"`    // a command, or "" when it is ok
}

// Machine is what the checks look at.
type Machine struct {
	CacheDir   string                          // joy's, absolute; need not exist
	StateDir   string                          // likewise
	ScratchDir string                          // where VMs have their scratch disks
	LookupEnv  func(key string) (string, bool) // as image.Options takes it
	Accel      string                          // as microvm.Provider takes it
	MaxVMs     int                             // the user's setting; 0: none
	// VMAlive says whether a VM of the index may still be there, whoever has made it. An error is that nobody can tell.
	VMAlive func(ctx context.Context, id string) (bool, error)
}

// Run makes every check, in the order in which a person should read them. It takes a second at most for each,
// and some more where VMAlive must ask a service; cancelling ctx turns what is left into failures.
func Run(ctx context.Context, m Machine) []Check { return run(ctx, m) }

// Boot boots a VM as a run would, standing in the same queue, executes a command in it and destroys it: from a snapshot
// where there is one, and cold. It takes seconds where VMs are emulated.
func Boot(ctx context.Context, m Machine, q *queue.Queue) []Check { return boot(ctx, m, q) }

// Failed says whether any check failed.
func Failed(checks []Check) bool {
	for _, c := range checks {
		if c.Status == Fail {
			return true
		}
	}
	return false
}
