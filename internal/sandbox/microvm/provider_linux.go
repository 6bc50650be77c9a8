package microvm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/guestclient"
)

// Provider creates QEMU VMs. The zero value of a field means its default.
type Provider struct {
	CacheDir string // where images are (image.DefaultCacheDir)
	Scratch  string // a directory with room for the scratch disks; they never have a name there for long (os.TempDir)
	QEMU     string // the program (qemu-system-x86_64 or -aarch64 on PATH)
	Accel    string // auto | kvm | tcg; auto uses KVM where booting a VM has shown that it works
	Guest    []byte // joy-guest for this architecture (image.Guest)
}

// Name is microvm.
func (p *Provider) Name() string { return Name }

// Create boots a VM from spec.Image; see sandbox.Provider.
func (p *Provider) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	m, err := p.machine(spec)
	if err != nil {
		return nil, err
	}
	if m.accel, err = p.accelerator(ctx, m); err != nil {
		return nil, err
	}
	if spec.Isolation == "hardware" && m.accel != "kvm" {
		return nil, fault.New(fault.Policy, "the plan wants hardware isolation and KVM does not work on this machine").
			WithHint("run it where /dev/kvm works, or set policy.isolation: any in joy.yaml")
	}
	v, reason, err := m.startFromSnapshot(ctx, spec)
	if v != nil || err != nil {
		return v, err
	}
	v, err = m.boot(ctx, spec, reason)
	if errors.Is(err, errStall) && ctx.Err() == nil && !errors.Is(err, sandbox.ErrAlive) {
		v, err = m.boot(ctx, spec, reason+"; a first boot was given up: "+errStall.Error())
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// boot starts spec's VM cold. On a busy host an emulated guest now and then falls asleep for good while it boots. Nothing
// of a plan has been in such a VM, so another one takes its place, once.
func (m *machine) boot(ctx context.Context, spec sandbox.Spec, reason string) (*vm, error) {
	proc, err := m.start(spec.Started)
	if err != nil {
		return nil, err
	}
	client, err := connect(ctx, proc, spec)
	if err != nil {
		return nil, errors.Join(err, proc.destroy())
	}
	info := m.info(spec, proc)
	info.StartReason = reason
	return newVM(client, proc, info), nil
}

// connect waits for the guest, makes sure of what holds QEMU and brings the guest to life.
func connect(ctx context.Context, proc *process, spec sandbox.Spec) (*guestclient.Client, error) {
	if err := proc.awaitReady(ctx); err != nil {
		return nil, proc.explain(err)
	}
	if err := proc.held(spec.Isolation); err != nil {
		return nil, err
	}
	var client *guestclient.Client
	err := proc.while(ctx, bootPatience, func(ctx context.Context) (err error) {
		client, err = guestclient.New(ctx, proc.channel, spec.Door)
		return err
	})
	if err != nil {
		return nil, proc.explain(err)
	}
	return client, nil
}

// machine finds everything a VM is made of.
func (p *Provider) machine(spec sandbox.Spec) (*machine, error) {
	qemu := p.QEMU
	if qemu == "" {
		qemu = map[string]string{"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}[runtime.GOARCH]
	}
	path, err := exec.LookPath(qemu)
	if err != nil {
		return nil, fault.New(fault.Platform, "%s is not installed", qemu).WithHint("sudo apt-get install qemu-system-x86")
	}
	cache := p.CacheDir
	if cache == "" {
		if cache, err = image.DefaultCacheDir(os.Getenv); err != nil {
			return nil, err
		}
	}
	img, err := image.Find(cache, spec.Image)
	if err != nil {
		return nil, err
	}
	guest := p.Guest
	if guest == nil {
		if guest, err = image.Guest(runtime.GOARCH); err != nil {
			return nil, err
		}
	}
	initrd, err := image.InitrdPath(cache, img, guest)
	if err != nil {
		return nil, err
	}
	scratch := p.Scratch
	if scratch == "" {
		scratch = os.TempDir()
	}
	return &machine{
		qemu: path, image: img.Digest(), kernel: img.Kernel(), initrd: initrd, root: img.Root(), scratchDir: scratch, cacheDir: cache,
		cpus: spec.CPUs, memory: int64(spec.Memory), disk: int64(spec.Disk), console: spec.Console,
	}, nil
}

// vm is one running VM: the guest's session and the process that carries it.
type vm struct {
	*guestclient.Client
	proc *process
	info sandbox.Info

	mu        sync.Mutex
	destroyed bool
}

// newVM watches over what has been brought to life.
func newVM(client *guestclient.Client, proc *process, info sandbox.Info) *vm {
	go proc.watchStopped(client.Fail)
	return &vm{Client: client, proc: proc, info: info}
}

func (v *vm) Info() sandbox.Info { return v.info }

// Destroy closes the session, so that the end is not taken for a loss, kills the process and waits until it is reaped.
// The kernel frees the rest: the scratch disk has no name and the channel no path.
func (v *vm) Destroy(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.destroyed {
		return nil
	}
	_ = v.Client.Close()
	err := v.proc.destroy()
	v.destroyed = err == nil
	return err
}

// Err says why the VM is gone: what QEMU said, when it said something.
func (v *vm) Err() error {
	err := v.Client.Err()
	if err == nil {
		return nil
	}
	return v.proc.explain(err)
}

func (m *machine) info(spec sandbox.Spec, proc *process) sandbox.Info {
	info := sandbox.Info{
		ID: proc.id, Provider: Name, Image: spec.Image, Accelerator: m.accel, Isolation: "emulated", Start: "cold",
	}
	info.Confinement, info.Reduced = proc.hold.found()
	if m.accel == "kvm" {
		info.Isolation = "hardware"
	}
	return info
}

// Reap kills the VM that id names when it is still there and still that process. It reports whether it was.
func Reap(id string) (bool, error) {
	pid, begun, err := parseID(id)
	if err != nil {
		return false, err
	}
	now, err := startTime(pid)
	if err != nil || now != begun {
		return false, nil //nolint:nilerr // no such process, or another one by now
	}
	return true, killPid(pid, begun)
}

// Alive reports whether the VM that id names is still there.
func Alive(id string) bool {
	pid, begun, err := parseID(id)
	if err != nil {
		return false
	}
	now, err := startTime(pid)
	return err == nil && now == begun
}

func parseID(id string) (pid int, begun uint64, err error) {
	if _, err := fmt.Sscanf(id, "qemu:%d:%d", &pid, &begun); err != nil || pid <= 1 {
		return 0, 0, fmt.Errorf("%q does not name a local VM", id)
	}
	return pid, begun, nil
}
