package runner

import (
	"maps"
	"slices"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/ledger"
)

// skips records what a step left in /workspace/out and joy did not take. A step can leave entries without end: for each
// reason the first few are named, and the others counted.
type skips struct {
	run   *run
	step  string
	named map[string]int
	more  map[string]int64
	total int64
}

func (r *run) newSkips(step string) *skips {
	return &skips{run: r, step: step, named: map[string]int{}, more: map[string]int64{}}
}

// add takes one. Its size is the VM's own word and may be no size at all; a negative one is none.
func (s *skips) add(name, reason string, size int64) error {
	reason = s.run.scribe.Text(reason)
	if s.named[reason] == guestproto.MaxNamed {
		s.count(reason, 1)
		return nil
	}
	s.named[reason]++
	s.total++
	d := ledger.Data{"name": s.run.scribe.Text(name), "reason": reason}
	if size >= 0 && size <= ledger.MaxInt {
		d["bytes"] = size
	}
	_, err := s.run.Ledger.Append(ledger.ArtifactSkipped, s.step, d)
	return err
}

// count takes n that are not named.
func (s *skips) count(reason string, n int64) {
	n = max(0, min(n, ledger.MaxInt-s.total)) // the VM's own word
	s.more[s.run.scribe.Text(reason)] += n
	s.total += n
}

// end records how many were not named.
func (s *skips) end() error {
	for _, reason := range slices.Sorted(maps.Keys(s.more)) {
		d := ledger.Data{"reason": reason, "count": s.more[reason]}
		if _, err := s.run.Ledger.Append(ledger.ArtifactSkipped, s.step, d); err != nil {
			return err
		}
	}
	return nil
}
