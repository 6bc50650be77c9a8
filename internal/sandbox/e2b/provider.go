// Package e2b makes sandboxes at E2B, or at a server of its shape: joy-guest is brought into the VM, started by E2B's own
// daemon, and spoken to through that process, so that a step finds what it finds in a local VM.
//
// The one rule: nothing outlives the run. A sandbox is on the run's record before it is asked for, lives on a lease of two
// minutes that only a living joy extends, is never paused or saved, and counts as gone when E2B says so.
package e2b

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/guestclient"
)

// Name is what the plan and the ledger call the provider.
const Name = "e2b"

// GuestArch is the architecture of E2B's machines.
const GuestArch = "amd64"

// Lease is how long a sandbox lives when nobody extends it. A third of it lies between two extensions.
const Lease = 2 * time.Minute

// Provider makes sandboxes at E2B.
type Provider struct {
	Client *client.Client
	Owner  Owner
	Guest  []byte // joy-guest for E2B's machines, linux/amd64 (image.Guest)

	lease, looking, patience, waking time.Duration // Lease, adoptLimit, outOfReach, wakeLimit; tests have less
}

// Name is e2b.
func (p *Provider) Name() string { return Name }

// Pin is what sandbox.Spec.Image names: a template as joy.yaml does, and its build.
func Pin(template, build string) string { return template + "@" + build }

// Create makes a sandbox of the pinned template and brings joy-guest to life in it; see sandbox.Provider. spec.Started is
// told twice what to clean up: by a nonce before the sandbox is asked for, and by its id. E2B's templates fix CPUs, memory
// and disk: Info.Reduced says when they are less than spec asks for; of more the steps have spec's.
func (p *Provider) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	pinned, err := p.checkPin(ctx, spec.Image)
	if err != nil {
		return nil, err
	}
	guest := p.Guest
	if guest == nil {
		if guest, err = image.Guest(GuestArch); err != nil {
			return nil, err
		}
	}
	made, err := p.make(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := p.checkMade(ctx, spec, made, pinned); err != nil {
		return nil, errors.Join(err, p.end(ctx, made.ID))
	}
	b, err := p.boot(ctx, spec, made, guest)
	if errors.Is(err, client.ErrNotFound) { // the sandbox, for there was one
		err = fmt.Errorf("%w: %w", sandbox.ErrLost, err)
	}
	if err != nil {
		return nil, p.explain(errors.Join(err, p.end(ctx, made.ID)))
	}
	return b, nil
}

// checkPin holds that the template means the build that the plan pins, and gives the template's id.
func (p *Provider) checkPin(ctx context.Context, pin string) (id string, err error) {
	template, build, ok := cutPin(pin)
	if !ok {
		return "", fault.New(fault.Drift, "the lock does not pin a build of an E2B template").WithHint("joy build --update template")
	}
	now, err := p.Client.Resolve(ctx, template)
	if err != nil {
		return "", p.explain(err)
	}
	if now.Build != build {
		return "", drift("the E2B template %s is the build %s, and the lock pins %s", template, now.Build, build)
	}
	return now.ID, nil
}

func drift(format string, args ...any) error {
	e := fault.New(fault.Drift, format, args...).WithHint("joy build --update template && joy plan diff")
	e.Code = "JOY-DRIFT"
	return e
}

// checkMade holds that a sandbox is of the pinned build. E2B makes sandboxes by a template's name and does not say of
// which build they are; but what the name meant before the making and means after it, it meant then.
func (p *Provider) checkMade(ctx context.Context, spec sandbox.Spec, made client.Created, pinned string) error {
	template, _, _ := cutPin(spec.Image)
	if made.Template != pinned && made.Template != template {
		return drift("E2B made the sandbox from the template %s, and the lock's %s is %s", printable(made.Template), template, pinned)
	}
	_, err := p.checkPin(ctx, spec.Image)
	return err
}

func cutPin(pin string) (template, build string, ok bool) {
	i := strings.LastIndexByte(pin, '@')
	if i <= 0 || i == len(pin)-1 {
		return "", "", false
	}
	return pin[:i], pin[i+1:], true
}

// make asks for a sandbox, once, and puts it on record.
func (p *Provider) make(ctx context.Context, spec sandbox.Spec) (client.Created, error) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return client.Created{}, err
	}
	nonce := hex.EncodeToString(random)
	tags, err := p.Owner.tags(spec.Run, nonce, time.Now())
	if err != nil {
		return client.Created{}, err
	}
	if err := started(spec, p.nonceID(nonce)); err != nil {
		return client.Created{}, err
	}
	template, _, _ := cutPin(spec.Image)
	made, err := p.Client.Create(ctx, client.CreateRequest{Template: template, Lease: p.leaseTime(), Metadata: tags})
	if errors.Is(err, client.ErrUnknown) {
		made, err = p.adopt(ctx, nonce, err)
	}
	if err != nil {
		return client.Created{}, p.explain(err)
	}
	if err := started(spec, p.sandboxID(made.ID)); err != nil {
		return client.Created{}, errors.Join(err, p.end(ctx, made.ID))
	}
	return made, nil
}

func started(spec sandbox.Spec, id string) error {
	if spec.Started == nil {
		return nil
	}
	return spec.Started(id)
}

func (p *Provider) leaseTime() time.Duration { return cmp.Or(p.lease, Lease) }

// boot brings joy-guest to life in a sandbox. When it fails, the caller ends the sandbox.
func (p *Provider) boot(ctx context.Context, spec sandbox.Spec, made client.Created, guest []byte) (*box, error) {
	now, err := p.Client.Get(ctx, made.ID)
	if err != nil {
		return nil, err
	}
	daemon, err := p.Client.Daemon(made, "root")
	if err != nil {
		return nil, err
	}
	b := &box{provider: p, id: made.ID, daemon: daemon, lost: make(chan struct{})}
	b.life, b.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	go b.keepLease(p.leaseTime())
	if err := b.wake(ctx, spec, guest); err != nil {
		b.cancel(err)
		return nil, err
	}
	b.info = sandbox.Info{
		ID: p.sandboxID(made.ID), Provider: Name, Image: spec.Image, Isolation: "hardware", Start: "cold",
		Confinement: "on the word of E2B at " + p.Client.Place() + ": a VM of its own, no internet access, no public traffic",
		Reduced:     strings.Join(append(shortOf(spec, now, b.Client.Boot()), b.Client.Boot().Missing...), "; "),
	}
	if b.info.Reduced != "" {
		b.info.Confinement = "reduced (" + b.info.Reduced + "): " + b.info.Confinement
	}
	return b, nil
}

// wakeLimit is how long joy-guest may take from its start to its first answer: a daemon that says much, or only that it
// lives, would be waited for as long as the run may last.
const wakeLimit = 90 * time.Second

// wake sends joy-guest, which may take as long as it moves, starts it and opens the session.
func (b *box) wake(ctx context.Context, spec sandbox.Spec, guest []byte) error {
	if err := b.daemon.Upload(ctx, guestPath, bytes.NewReader(guest), int64(len(guest))); err != nil {
		return err
	}
	limit := cmp.Or(b.provider.waking, wakeLimit)
	waking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := b.startGuest(waking)
	if err == nil {
		err = b.connect(waking, spec)
	}
	if err != nil && waking.Err() != nil && ctx.Err() == nil {
		return fault.New(fault.Platform, "joy-guest does not answer at E2B within %s", limit)
	}
	return err
}

// shortOf is what a sandbox has less of than the plan asks for.
func shortOf(spec sandbox.Spec, s client.Sandbox, boot guestproto.Boot) []string {
	var out []string
	if s.CPUs < spec.CPUs {
		out = append(out, fmt.Sprintf("%d CPUs of %d: the template fixes them", s.CPUs, spec.CPUs))
	}
	if s.MemoryMB<<20 < int64(spec.Memory) {
		out = append(out, fmt.Sprintf("%d MiB of memory of %d: the template fixes it", s.MemoryMB, int64(spec.Memory)>>20))
	}
	if boot.Disk < int64(spec.Disk) {
		out = append(out, fmt.Sprintf("%d MiB of disk of %d: the template has no more free", boot.Disk>>20, int64(spec.Disk)>>20))
	}
	return out
}

// connect opens the session with joy-guest, whatever its carrier will be.
func (b *box) connect(ctx context.Context, spec sandbox.Spec) error {
	conn := b.dialGuest()
	stop := context.AfterFunc(ctx, func() { conn.Fail(ctx.Err()) })
	defer stop()
	err := guestclient.AwaitReady(conn)
	if err == nil {
		// A template may be larger than what the plan was made for.
		b.Client, err = guestclient.NewBounded(ctx, conn, spec.Door, guestproto.Bounds{CPUs: spec.CPUs, Memory: int64(spec.Memory), Disk: int64(spec.Disk)})
	}
	if err != nil {
		conn.Close()
		return fmt.Errorf("waiting for the guest: %w", err)
	}
	b.Beside(files{b})
	return nil
}
