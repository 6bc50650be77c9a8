package policy

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Bounds of a policy. They keep a hand-edited plan from asking for what no machine should give; what one machine gives
// is the operator's word.
const (
	MaxCPUs     = 64
	MinMemory   = 128 * Size(1<<20)
	MaxMemory   = Size(1 << 40)
	MinDisk     = 64 * Size(1<<20)
	MaxDisk     = 16 * Size(1<<40)
	MinTimeout  = Duration(time.Second)
	MaxTimeout  = Duration(24 * time.Hour)
	MaxArtifact = Size(1 << 40)
	MaxFiles    = 100_000
)

// Words a policy may use, in the order product.md lists them.
var (
	Isolations = []string{"any", "hardware"}
	Providers  = []string{"microvm", "kata", "e2b"}
	Approvals  = []string{"ask-risky", "ask-all", "granted"}
	Starts     = []string{"any", "cold"}
)

// Check says everything that is outside the bounds, joined, each as "key: what is wrong".
func (p Policy) Check() error {
	var errs []error
	bad := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %w", key, fmt.Errorf(format, args...)))
	}
	word := func(key, got string, known []string) {
		if !slices.Contains(known, got) {
			bad(key, "%q is none of %v", got, known)
		}
	}
	size := func(key string, got, low, high Size) {
		if got < low || got > high {
			bad(key, "%s is outside %s to %s", got, low, high)
		}
	}
	word("isolation", p.Isolation, Isolations)
	word("approvals", p.Approvals, Approvals)
	word("start", p.Start, Starts)
	if len(p.Providers) == 0 {
		bad("providers", "none is left to run on")
	}
	for i, name := range p.Providers {
		word("providers", name, Providers)
		if slices.Contains(p.Providers[:i], name) {
			bad("providers", "%q is there twice", name)
		}
	}
	if p.CPUs < 1 || p.CPUs > MaxCPUs {
		bad("cpus", "%d is outside 1 to %d", p.CPUs, MaxCPUs)
	}
	size("memory", p.Memory, MinMemory, MaxMemory)
	size("disk", p.Disk, MinDisk, MaxDisk)
	if err := CheckTimeout(p.Timeout); err != nil {
		bad("timeout", "%w", err)
	}
	if err := CheckHosts(p.Egress); err != nil {
		bad("egress", "%w", err)
	}
	size("artifacts.max_file", p.Artifacts.MaxFile, 1, MaxArtifact)
	size("artifacts.max_total", p.Artifacts.MaxTotal, 1, MaxArtifact)
	if p.Artifacts.MaxFiles < 1 || p.Artifacts.MaxFiles > MaxFiles {
		bad("artifacts.max_files", "%d is outside 1 to %d", p.Artifacts.MaxFiles, MaxFiles)
	}
	return errors.Join(errs...)
}

// CheckTimeout bounds the time limit of a run or a step.
func CheckTimeout(d Duration) error {
	if d < MinTimeout || d > MaxTimeout {
		return fmt.Errorf("%s is outside %s to %s", d, MinTimeout, MaxTimeout)
	}
	return nil
}
