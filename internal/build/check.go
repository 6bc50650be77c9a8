package build

import (
	"context"
	"fmt"

	"github.com/joystream-ai/joy/internal/plan"
)

// Report is how a lock compares with what a build would write now.
type Report struct {
	Changes []plan.Change // empty: the lock is what a build would write
	Notes   []string      // among them what newer rules would decide otherwise
	Outside int           // pins of things outside the project, which were not resolved again
	Result  *Result       // of the build
}

// Check builds and compares with the lock; it writes nothing. Drift is bytes against digests: where the only
// difference is what a newer version of the rules decides, that is a note, unless o.Strict. file names the lock in errors. The
// errors are those of plan.Decode and Build.
func Check(ctx context.Context, lock []byte, file string, o Options) (*Report, error) {
	old, err := plan.Decode(lock, file)
	if err != nil {
		return nil, err
	}
	o.Old, o.Images = old, nil // the lock's own pins are the ones to compare with
	res, err := Build(ctx, o)
	if err != nil {
		return nil, err
	}
	out := &Report{Notes: res.Notes, Outside: OutsidePins(old), Result: res}
	if old.Rules == res.Plan.Rules || o.Strict {
		out.Changes = plan.Compare(old, res.Plan)
		return out, nil
	}
	kept := judgedAs(old, res.Plan)
	out.Changes = plan.Compare(old, kept)
	judged := plan.Compare(kept, res.Plan)
	for _, c := range judged {
		if c.What != "rules" {
			out.Notes = append(out.Notes, fmt.Sprintf("rules %d → %d would change %s", old.Rules, res.Plan.Rules, c))
		}
	}
	if len(judged) == 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("rules %d → %d change nothing here", old.Rules, res.Plan.Rules))
	}
	return out, nil
}

// judgedAs is p with old's judgement of whatever has the same bytes in both.
func judgedAs(old, p *plan.Plan) *plan.Plan {
	out := *p
	out.Rules = old.Rules
	out.Skills = append([]plan.Skill{}, p.Skills...)
	same := map[string]bool{}
	for i, s := range out.Skills {
		if prior, ok := old.Skill(s.Name); ok && prior.Digest == s.Digest {
			out.Skills[i].Findings = prior.Findings
			same[s.Name] = true
		}
	}
	out.Steps = append([]plan.Step{}, p.Steps...)
	for i, s := range out.Steps {
		prior, ok := old.Step(s.ID)
		if !ok || !same[s.Skill] || prior.Skill != s.Skill {
			continue
		}
		required := prior.NeedsVM() != s.NeedsVM()
		out.Steps[i].Sandbox.Required, out.Steps[i].Sandbox.Evidence = prior.Sandbox.Required, prior.Sandbox.Evidence
		if required {
			out.Steps[i].Egress = prior.Egress // it follows from the judgement
		}
	}
	return &out
}
