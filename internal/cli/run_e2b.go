package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/doctor"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/notekey"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/term"
)

// remote is the provider of a run's VM at E2B. It tells a person where that is less than the plan asks for.
type remote struct {
	*e2b.Provider
	app *app
}

// Create warns once the VM is there.
func (r *remote) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	sb, err := r.Provider.Create(ctx, spec)
	if err == nil && sb.Info().Reduced != "" && !r.app.quiet {
		r.app.warn("the sandbox at E2B has less than the plan asks for: %s", term.Line(sb.Info().Reduced))
	}
	return sb, err
}

// e2bClient speaks to the account whose key is in the environment. It contacts nobody.
func (a *app) e2bClient() (*client.Client, error) {
	c, err := client.New(client.FromEnv(a.env.LookupEnv))
	if errors.Is(err, client.ErrKey) {
		return nil, fault.Wrap(fault.Consent, err, "speak to E2B").WithHint("set E2B_API_KEY (https://e2b.dev/dashboard?tab=keys), or joy run --sandbox microvm")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "speak to E2B")
	}
	return c, nil
}

// e2b is the provider, for runs and for clearing up after them.
func (a *app) e2b() (*e2b.Provider, error) {
	c, err := a.e2bClient()
	if err != nil {
		return nil, err
	}
	key, err := a.userKey()
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "name this machine")
	}
	return &e2b.Provider{Client: c, Owner: e2b.Owner{
		Name: key.Public.String(), Host: host, Sign: key.Signer.Sign, Verify: key.Public.Verify,
	}}, nil
}

// userKey reads the key that signs what this user's joy leaves elsewhere, or makes it when it is needed first.
func (a *app) userKey() (notekey.Key, error) {
	path := filepath.Join(a.cfg.Dirs.Config, "user.key")
	key, err := notekey.User.Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key, err = notekey.User.New(path, "user", rand.Reader)
	if errors.Is(err, fs.ErrExist) { // another joy was faster
		return notekey.User.Read(path)
	}
	return key, err
}

// pinnedTemplate is the plan's template at E2B. That it still means that build is looked up when the sandbox is made.
func pinnedTemplate(p *plan.Plan) (string, error) {
	t := p.Image.E2B
	switch {
	case t.Template == "":
		e := fault.New(fault.Drift, "the lock names no E2B template").
			WithHint("e2b_template: NAME in joy.yaml, then joy build --update template")
		e.Code = "JOY-NO-IMAGE-PIN"
		return "", e
	case t.Build == "":
		e := fault.New(fault.Drift, "the lock does not pin a build of the E2B template %s yet", t.Template).
			WithHint("joy build --update template")
		e.Code = "JOY-NO-IMAGE-PIN"
		return "", e
	}
	return e2b.Pin(t.Template, t.Build), nil
}

// templateBuild looks up, for a build, what a template means now. Without a key nothing is looked up, and the pin stays
// open, unless it was asked for.
func (a *app) templateBuild(ctx context.Context, asked bool) func(template string) (string, error) {
	return func(template string) (string, error) {
		c, err := a.e2bClient()
		if err != nil && !asked {
			return "", nil //nolint:nilerr // a plan can be frozen without an account
		}
		if err != nil {
			return "", err
		}
		t, err := c.Resolve(ctx, template)
		if err != nil && !asked {
			a.warn("the build of the E2B template %s is not pinned: %v", template, err)
			return "", nil
		}
		if err != nil {
			return "", fault.Wrap(fault.Connection, err, "pin the build of the E2B template %s", template)
		}
		return t.Build, nil
	}
}

// checkE2B says whether sandboxes can be had at E2B, where anything suggests that the user wants any.
func (a *app) checkE2B(ctx context.Context) []doctor.Check {
	if _, ok := a.env.LookupEnv(client.EnvKey); !ok && a.cfg.Sandbox != e2b.Name {
		return nil
	}
	check := doctor.Check{ID: "e2b", Status: doctor.Warn}
	if a.cfg.Sandbox == e2b.Name {
		check.Status = doctor.Fail
	}
	p, err := a.e2b()
	if err == nil {
		var left []e2b.Orphan
		left, err = p.Orphans(ctx, a.lives())
		if err == nil && len(left) > 0 {
			return []doctor.Check{{ID: "e2b", Status: doctor.Warn, Detail: "sandboxes at " + p.Client.Place() + " that live on without their joy: " + count(len(left), "one"), Fix: "joy gc"}}
		}
		if err == nil {
			return []doctor.Check{{ID: "e2b", Status: doctor.OK, Detail: p.Client.Place() + " answers and takes the key; nothing was left there"}}
		}
	}
	first := fault.All(err)[0]
	check.Detail, check.Fix = first.Error(), first.Hint
	return []doctor.Check{check}
}
