package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/doctor"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/trust"
)

type readyJSON struct {
	OK     bool           `json:"ok"`
	Checks []doctor.Check `json:"checks"`
}

// readiness collects whether an agent can run here and now. The first failure gives the exit code.
type readiness struct {
	checks []doctor.Check
	first  error
}

func (r *readiness) failed() bool { return r.first != nil }

func (r *readiness) ok(id, format string, args ...any) {
	r.checks = append(r.checks, doctor.Check{ID: id, Status: doctor.OK, Detail: fmt.Sprintf(format, args...)})
}

func (r *readiness) warn(id, fix, format string, args ...any) {
	r.checks = append(r.checks, doctor.Check{ID: id, Status: doctor.Warn, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

// check is a failure with what its errors say, or ok.
func (r *readiness) check(id string, err error, format string, args ...any) bool {
	if err == nil {
		r.ok(id, format, args...)
		return true
	}
	var said, fixes []string
	for _, e := range fault.All(err) {
		said = append(said, e.Error())
		if e.Hint != "" {
			fixes = append(fixes, e.Hint)
		}
	}
	r.checks = append(r.checks, doctor.Check{ID: id, Status: doctor.Fail, Detail: strings.Join(said, "; "), Fix: strings.Join(fixes, "; ")})
	if r.first == nil {
		r.first = err
	}
	return false
}

// examineReady looks in the order in which a run would fail. What needs trust is left alone without it, and so is what the
// operator does not allow.
func (a *app) examineReady(ctx context.Context, arg string) (r readiness) {
	t, err := a.loadTarget(arg)
	if err == nil {
		err = t.checkDrift(nil)
	}
	why := ""
	if r.check("lock", err, "joy.lock is here and nothing differs from it") {
		if !a.readyToRun(t, arg, &r) {
			why = "the operator does not allow the plan"
		}
	} else {
		t = nil
	}
	sub, err := a.subject(arg)
	if err == nil {
		err = a.requireTrust(ctx, sub)
	}
	detail := "what it would start and contact is allowed"
	if sub.Empty() {
		detail = "it would start nothing and contact nothing"
	}
	if !r.check("trust", err, "%s", detail) {
		why = "the project is not trusted"
	}
	if why == "" {
		a.readyOutside(ctx, sub, t, &r)
		return r
	}
	for _, c := range sub.Connections {
		r.warn("connection "+c.Name, "", "not looked at: %s", why)
	}
	return r
}

// readyToRun is what a plan needs of this machine. It is false when the operator refuses the plan.
func (a *app) readyToRun(t *target, arg string, r *readiness) bool {
	provider, detail := a.cfg.Sandbox, "nobody bounds what plans do here"
	digest, err := a.judge(t, a.lockFile(arg), provider)
	if digest != "" {
		detail = "the policy in force, " + digest + ", allows it"
	}
	allowed := r.check("operator", err, "%s", detail)
	_, err = a.provider(t.plan)
	if !r.check("provider", err, "VMs would come from %s", provider) {
		return allowed
	}
	pin, err := a.pinnedImage(t.plan)
	detail = "the pinned image is here: " + a.shown(pin)
	if pin == "" {
		detail = "no step needs the VM"
	}
	r.check("image", err, "%s", detail)
	return allowed
}

// readyOutside resolves every secret and asks every connection for its tools. The project is trusted.
func (a *app) readyOutside(ctx context.Context, sub trust.Subject, t *target, r *readiness) {
	known := secret.NewScrubber()
	resolver := a.resolver(known)
	have := func(uses []trust.Use, origin secret.Origin, err error) bool {
		all := true
		for _, u := range uses {
			found := err
			if found == nil {
				_, found = resolver.Resolve(ctx, u.Secret, origin)
			}
			all = r.check("secret "+u.Secret, found, "it can be had, for %s", origin) && all
		}
		return all
	}
	if m := sub.Model; m != nil {
		origin, err := m.Origin()
		if !have(m.Secrets, origin, err) {
			r.warn("model", "", "not asked: it lacks its key")
		} else if t != nil && t.plan.Model != nil {
			a.readyModel(ctx, t.plan.Model, resolver, known, r)
		}
	}
	var list []trust.Connection
	for _, c := range sub.Connections {
		if origin, err := sub.Origin(c); have(c.Secrets, origin, err) {
			list = append(list, c)
		} else {
			r.warn("connection "+c.Name, "", "not started: it lacks a secret")
		}
	}
	probes, err := a.probeAll(ctx, sub, list, resolver, known)
	if err != nil {
		r.check("connections", err, "")
		return
	}
	for _, p := range probes {
		pinned, err := 0, p.err
		if err == nil && t != nil {
			pins := t.plan.Connections[p.connection.Name].Tools
			pinned, err = len(pins), drifted(p, pins)
		}
		r.check("connection "+p.connection.Name, err, "it answers with %s; %d pinned, and the same", count(len(p.tools), "tool"), pinned)
	}
}

// drifted holds the tools that a server offers against those the plan pins.
func drifted(p probe, pins map[string]plan.Tool) error {
	live := map[string]string{}
	for _, t := range p.tools {
		live[t.Name] = t.Digest
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		got, there := live[name]
		if got == pins[name].Digest {
			continue
		}
		what := "differs from its pin"
		if !there {
			what = "is not offered any more"
		}
		e := fault.New(fault.Drift, "the tool %s.%s %s", p.connection.Name, name, what)
		e.Code = "JOY-DRIFT"
		errs = append(errs, e.WithHint("look at what changed: joy build --update tools && joy plan diff"))
	}
	return errors.Join(errs...)
}
