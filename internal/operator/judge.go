package operator

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
)

// approvals in the order of how much they ask.
var approvals = []string{"granted", "ask-risky", "ask-all"}

// Request is a plan and what it is asked to run with.
type Request struct {
	Plan     *plan.Plan
	Lock     []byte // the bytes of the lock, for the places in it; may be nil
	Name     string // of the lock, in errors
	Sig      []byte // the bytes of the signature beside it; nil: there is none
	Provider string // of the sandbox that will be used; "": any that the plan accepts
}

// Judge refuses a plan that asks for more than any of the policies allows. Each refusal is a *fault.Error of kind Policy at
// the line of the lock, and names the line of the policy; they are joined. A broken signature is of kind Drift.
func (ps Policies) Judge(q Request) error {
	var errs []error
	for _, p := range ps {
		j := &judge{p: p, q: q}
		j.bounds()
		j.hosts()
		j.connections()
		j.model()
		j.approvals()
		j.signature()
		errs = append(errs, j.errs...)
	}
	return errors.Join(errs...)
}

type judge struct {
	p    *Policy
	q    Request
	errs []error
}

// refuse names both lines: key is the policy's, path the lock's.
func (j *judge) refuse(key string, path []string, format string, args ...any) {
	j.errs = append(j.errs, j.p.refusal(key, fmt.Sprintf(format, args...)).At(j.q.Name, lineOf(j.q.Lock, path...), 0))
}

func (p *Policy) refusal(key, what string) *fault.Error {
	place := p.File
	if at, ok := p.at[key]; ok {
		place = fmt.Sprintf("%s:%d:%d", p.File, at.line, at.col)
	}
	e := fault.New(fault.Policy, "%s (%s)", what, place)
	e.Code = Code
	return e.WithHint("ask for less in joy.yaml and build again, or ask who owns this machine")
}

func (j *judge) bounds() {
	is, l := j.q.Plan.Policy, j.p.Limits
	at := func(key string) []string { return append([]string{"policy"}, strings.Split(key, ".")...) }
	if j.p.Isolation == "hardware" && is.Isolation != "hardware" {
		j.refuse("isolation", at("isolation"), "policy.isolation is %s, and the operator allows hardware only", is.Isolation)
	}
	if j.p.Start == "cold" && is.Start != "cold" {
		j.refuse("start", at("start"), "policy.start is %s, and the operator allows cold only", is.Start)
	}
	if j.p.Providers != nil {
		allowed := func(name string) bool { return slices.Contains(j.p.Providers, name) }
		list := strings.Join(j.p.Providers, ", ")
		switch {
		case j.q.Provider != "" && !allowed(j.q.Provider):
			j.refuse("providers", at("providers"), "the sandbox would come from %s, and the operator allows %s", j.q.Provider, list)
		case !slices.ContainsFunc(is.Providers, allowed):
			j.refuse("providers", at("providers"), "policy.providers is %s, and the operator allows %s", strings.Join(is.Providers, ", "), list)
		}
	}
	over := func(key string, got, most int64, said, bound fmt.Stringer) {
		if most > 0 && got > most {
			field := key
			if strings.HasPrefix(key, "max_") {
				field = "artifacts." + key
			}
			j.refuse("limits."+key, at(field), "policy.%s is %s, and the operator allows %s", field, said, bound)
		}
	}
	size := func(key string, got, most policy.Size) { over(key, int64(got), int64(most), got, most) }
	over("cpus", int64(is.CPUs), int64(l.CPUs), number(is.CPUs), number(l.CPUs))
	size("memory", is.Memory, l.Memory)
	size("disk", is.Disk, l.Disk)
	over("timeout", int64(is.Timeout), int64(l.Timeout), is.Timeout, l.Timeout)
	size("max_file", is.Artifacts.MaxFile, l.MaxFile)
	size("max_total", is.Artifacts.MaxTotal, l.MaxTotal)
	over("max_files", int64(is.Artifacts.MaxFiles), int64(l.MaxFiles), number(is.Artifacts.MaxFiles), number(l.MaxFiles))
}

type number int

func (n number) String() string { return strconv.Itoa(int(n)) }

func (j *judge) hosts() {
	if j.p.Egress == nil {
		return
	}
	check := func(hosts []string, path ...string) {
		for i, h := range hosts {
			if !policy.Covers(j.p.Egress, h) {
				j.refuse("egress", append(slices.Clone(path), strconv.Itoa(i)), "the plan lets the VM reach %s, which the operator does not allow", h)
			}
		}
	}
	check(j.q.Plan.Policy.Egress, "policy", "egress")
	if s := j.q.Plan.Setup; s != nil {
		check(s.Egress, "setup", "egress")
	}
	for i, s := range j.q.Plan.Steps {
		check(s.Egress, "steps", strconv.Itoa(i), "egress")
	}
}
