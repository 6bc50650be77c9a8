package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/joystream-ai/joy/internal/doctor"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/kata"
	"github.com/joystream-ai/joy/internal/term"
)

// contained is the provider of a run's VM through containerd. It tells a person where that is less than the plan asks for.
type contained struct {
	*kata.Provider
	app *app
}

// Create warns once the VM is there.
func (c *contained) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	sb, err := c.Provider.Create(ctx, spec)
	if err == nil && !c.app.quiet {
		if sb.Info().Isolation != "hardware" {
			c.app.warn("%s; policy.isolation: hardware refuses it", term.Line(sb.Info().Confinement))
		}
		if less := sb.Info().Reduced; less != "" {
			c.app.warn("the VM of Kata's has less than one of joy's own: %s", term.Line(less))
		}
	}
	return sb, err
}

// kata is the provider, for runs and for clearing up after them. It contacts nobody.
func (a *app) kata() (*kata.Provider, error) {
	ps, err := a.policies()
	if err != nil {
		return nil, err
	}
	return &kata.Provider{
		Address: a.cfg.Containerd, Runtime: a.cfg.KataRuntime, GVisor: ps.AllowGVisor(a.machinePolicy()),
		Dir: filepath.Join(a.cfg.Dirs.State, "kata"), Owner: fmt.Sprintf("%d:%s", os.Getuid(), a.cfg.Dirs.State),
	}, nil
}

// pinnedContainer is the plan's image in containerd, for this machine. That it is there is looked up when the VM is made.
func pinnedContainer(p *plan.Plan) (string, error) {
	pin := map[string]*string{"amd64": p.Image.Kata.AMD64, "arm64": p.Image.Kata.ARM64}[runtime.GOARCH]
	if pin != nil {
		return *pin, nil
	}
	name := p.Image.Profile
	if name == "" {
		name = "IMAGE"
	}
	e := fault.New(fault.Drift, "the lock does not pin an image for Kata on %s yet", runtime.GOARCH).
		WithHint("joy image export %s --format oci -o %s.oci.tar && joy build, which pins what was exported", name, name)
	e.Code = "JOY-NO-IMAGE-PIN"
	return "", e
}

// wantsKata says whether anything suggests that this user has VMs of Kata's: it is asked for, or what makes them is here.
func (a *app) wantsKata() bool {
	if a.cfg.Sandbox == kata.Name {
		return true
	}
	_, shim := doctor.FindShim(a.cfg.KataRuntime)
	return shim == nil
}

// orphansOfKata are what this user's joys have left in containerd.
func (a *app) orphansOfKata(ctx context.Context) ([]kata.Orphan, error) {
	if !a.wantsKata() {
		return nil, nil
	}
	p, err := a.kata()
	if err != nil {
		return nil, err
	}
	found, err := p.Orphans(ctx, a.lives())
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Code == "JOY-NO-CONTAINERD" && a.cfg.Sandbox != kata.Name {
		return nil, nil // installed and not running, or not this user's to ask
	}
	return found, err
}

// checkKata says whether VMs of Kata's can be had here, where anything suggests that the user wants any. With deep it makes
// one.
func (a *app) checkKata(ctx context.Context, deep bool) []doctor.Check {
	if !a.wantsKata() {
		return nil
	}
	p, err := a.kata()
	if err != nil {
		return []doctor.Check{{ID: "kata", Status: doctor.Fail, Detail: err.Error(), Fix: fault.All(err)[0].Hint}}
	}
	k := doctor.Kata{Provider: p, Runtime: a.cfg.KataRuntime, Address: a.cfg.Containerd, Wanted: a.cfg.Sandbox == kata.Name, Lives: a.lives()}
	checks := k.Run(ctx)
	if deep {
		checks = append(checks, k.Boot(ctx)...)
	}
	return checks
}
