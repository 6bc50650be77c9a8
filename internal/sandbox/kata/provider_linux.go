package kata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Provider makes Kata VMs. The zero value of a field means its default.
type Provider struct {
	Address     string // containerd's socket (DefaultAddress)
	Runtime     string // its runtime (DefaultRuntime)
	Snapshotter string // containerd's default for this platform
	Dir         string // a directory for what a VM needs on this machine while it lives; containerd reads there
	Scratch     string // a directory with room for the scratch disks (os.TempDir)
	Owner       string // whose runs these are, for joy gc: the labels of what is made say so
	Guest       []byte // joy-guest for this architecture (image.Guest)
	GVisor      bool   // the operator allows gVisor

	making time.Duration // a lease; tests have less
}

// Name is kata.
func (p *Provider) Name() string { return Name }

// bootLimit is far beyond what a VM takes to boot on a busy machine.
const bootLimit = 3 * time.Minute

// Create starts a container of spec.Image, the digest of a manifest in containerd's store, and waits for joy-guest in it;
// see sandbox.Provider. spec.Started is told the id before anything is made.
func (p *Provider) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	kind, err := classOf(p.runtime(), p.GVisor)
	if err != nil {
		return nil, err
	}
	if spec.Isolation == "hardware" && kind != classVM {
		return nil, fault.New(fault.Policy, "the plan wants hardware isolation, and %s gives none", p.runtime()).
			WithHint("joy run with an io.containerd.kata….v2, or set policy.isolation: any in joy.yaml")
	}
	if p.Guest == nil {
		if p.Guest, err = image.Guest(runtime.GOARCH); err != nil {
			return nil, err
		}
	}
	c, err := dial(p.address())
	if err != nil {
		return nil, err
	}
	b := &box{provider: p, client: c, class: kind, spec: spec}
	if b.kernel, err = bootID(bootIDFile); err == nil {
		err = b.create(ctx)
	}
	if err != nil {
		return nil, errors.Join(p.explain(err), c.Close())
	}
	return b, nil
}

func (p *Provider) runtime() string { return cmp.Or(p.Runtime, DefaultRuntime) }
func (p *Provider) address() string { return cmp.Or(p.Address, DefaultAddress) }

// dir is the directory of one container.
func (p *Provider) dir(container string) string {
	return filepath.Join(cmp.Or(p.Dir, os.TempDir()), container)
}

// create makes the VM. When it fails, what it had begun has been ended again.
func (b *box) create(ctx context.Context) error {
	img, err := b.client.findImage(ctx, b.spec.Image)
	if err != nil {
		return err
	}
	if b.container, err = newContainer(b.spec.Run); err != nil {
		return err
	}
	if b.spec.Started != nil {
		if err := b.spec.Started(indexID(b.container, b.provider.address())); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bootLimit, fmt.Errorf("the VM did not answer within %s", bootLimit))
	defer cancel()
	err = b.start(ctx, img)
	asked := boottime()
	if err == nil {
		err = b.connect(ctx)
	}
	if err == nil && b.class != classNone {
		err = checkKernel(b.class, b.provider.runtime(), b.Client.Boot(), kernel{b.kernel, asked, boottime()})
	}
	if err == nil {
		b.describe()
		return nil
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	ended := b.end(ctx)
	if ended == nil && b.asked && b.task == nil {
		// containerd may still have been at it, and a shim that was on its way shows late.
		time.Sleep(lateShim)
		ended = b.end(ctx)
	}
	return errors.Join(err, ended)
}

// lateShim is how long after a failed request for a task its shim is looked for.
const lateShim = time.Second

// describe is what the ledger says of the VM.
func (b *box) describe() {
	b.info = sandbox.Info{
		ID: indexID(b.container, b.provider.address()), Provider: Name, Image: b.spec.Image,
		Isolation: "hardware", Accelerator: "kvm", Start: "cold",
		Confinement: "Kata's, by " + b.provider.runtime() + ": a VM of its own; no network interface, a read-only root",
		Reduced:     strings.Join(append(b.short, b.Client.Boot().Missing...), "; "),
	}
	switch b.class {
	case classGVisor:
		b.info.Isolation, b.info.Accelerator = "gvisor", ""
		b.info.Confinement = "gVisor's, by " + b.provider.runtime() + ": a kernel in user space; no network interface, a read-only root"
	case classNone:
		b.info.Isolation, b.info.Accelerator = "none", ""
		b.info.Confinement = "a container's, by " + b.provider.runtime() + "; the kernel is shared"
	case classVM:
	}
}
