package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// destroyLimit bounds the destruction of a VM; past it the VM counts as one that may be alive.
const destroyLimit = time.Minute

// machine is the VM of a run: booted by the first step that needs it, shared by the later ones.
type machine struct {
	run *run

	once    sync.Once
	created chan struct{} // closed when sandbox or err is set
	sandbox sandbox.Sandbox
	err     error
	asked   int64  // seq of sandbox.requested
	id      string // as told by the provider, before the VM has answered
	idMu    sync.Mutex
	done    chan struct{}  // closed by destroy, so that its end is not taken for a loss
	loss    func()         // records a loss, once
	watch   sync.WaitGroup // the watcher for a loss
}

// get is the VM. The boot belongs to the run and not to the step that asked first, and ends with the run.
func (m *machine) get(runCtx context.Context, step string) (sandbox.Sandbox, error) {
	m.once.Do(func() {
		m.created, m.done = make(chan struct{}), make(chan struct{})
		go m.boot(runCtx, step)
	})
	select {
	case <-m.created:
		return m.sandbox, m.err
	case <-runCtx.Done():
		return nil, runCtx.Err()
	}
}

func (m *machine) boot(ctx context.Context, step string) {
	defer close(m.created)
	defer func() {
		if p := recover(); p != nil {
			m.err = fmt.Errorf("%w: joy itself failed: %v\n%s", sandbox.ErrAlive, p, debug.Stack())
		}
	}()
	m.sandbox, m.err = m.create(ctx, step)
}

func (m *machine) create(ctx context.Context, step string) (sandbox.Sandbox, error) {
	r := m.run
	pol := r.Plan.Policy
	seq, err := r.Ledger.Effect(ledger.SandboxRequested, step, ledger.Data{
		"provider": r.Provider.Name(), "image": r.Image, "cpus": pol.CPUs, "memory": int64(pol.Memory), "disk": int64(pol.Disk),
	})
	if err != nil {
		return nil, err
	}
	m.asked = seq
	begun := r.Now()
	sb, err := r.Provider.Create(ctx, sandbox.Spec{
		Run: r.RunID, Image: r.Image, Isolation: pol.Isolation, Start: pol.Start, CPUs: pol.CPUs,
		Memory: pol.Memory, Disk: pol.Disk, Started: m.started, Door: r.Broker.Serve,
	})
	if err != nil {
		return nil, err
	}
	info := sb.Info()
	d := ledger.Data{
		"of": seq, "id": info.ID, "provider": info.Provider, "image": info.Image, "isolation": info.Isolation,
		"accelerator": info.Accelerator, "confinement": info.Confinement, "start": info.Start, "ms": r.Now().Sub(begun).Milliseconds(),
	}
	if info.Reduced != "" {
		d["reduced"] = info.Reduced
	}
	if info.StartReason != "" {
		d["start_reason"] = info.StartReason
	}
	if _, err := r.Ledger.Append(ledger.SandboxCreated, step, d); err != nil {
		return nil, errors.Join(err, m.end(sb))
	}
	m.loss = sync.OnceFunc(func() {
		_, _ = r.Ledger.Append(ledger.SandboxLost, "", ledger.Data{"of": seq, "reason": r.scribe.Text(fmt.Sprint(sb.Err()))})
	})
	m.watch.Go(func() {
		select {
		case <-m.done:
		case <-sb.Lost():
			m.noteLoss(sb)
		}
	})
	return sb, nil
}

// started keeps the id for whoever cleans up, before anything is waited for.
func (m *machine) started(id string) error {
	m.idMu.Lock()
	m.id = id
	m.idMu.Unlock()
	if m.run.OwnVM == nil {
		return nil
	}
	return m.run.OwnVM(id)
}

// noteLoss records, once, that the VM is gone when it is: when it happens, and not when somebody next notices. After
// destroy has begun it is no loss.
func (m *machine) noteLoss(sb sandbox.Sandbox) {
	select {
	case <-m.done:
		return
	default:
	}
	select {
	case <-sb.Lost():
		m.loss()
	default:
	}
}

// destroy ends the VM when there is one. It returns the id of a VM that may still be alive, or "".
func (m *machine) destroy() string {
	m.once.Do(func() { m.created = make(chan struct{}); close(m.created) })
	<-m.created
	if m.sandbox == nil {
		return m.failedBoot()
	}
	m.noteLoss(m.sandbox)
	close(m.done)
	m.watch.Wait()
	err := m.end(m.sandbox)
	d := ledger.Data{"of": m.asked, "id": m.sandbox.Info().ID, "verified": err == nil}
	if err != nil {
		d["error"] = m.run.scribe.Text(err.Error())
	}
	m.run.record(m.run.Ledger.Append(ledger.SandboxDestroyed, "", d))
	if err != nil {
		return m.sandbox.Info().ID
	}
	return m.gone()
}

// failedBoot records that a VM which was asked for never came to be: the provider has destroyed what it had begun.
func (m *machine) failedBoot() string {
	if m.asked == 0 {
		return ""
	}
	alive := errors.Is(m.err, sandbox.ErrAlive)
	m.run.record(m.run.Ledger.Append(ledger.SandboxDestroyed, "", ledger.Data{"of": m.asked, "id": m.id, "verified": !alive, "booted": false}))
	if alive {
		return cmp.Or(m.id, "unknown")
	}
	return m.gone()
}

func (m *machine) gone() string {
	if m.run.VMGone != nil {
		_ = m.run.VMGone(m.id)
	}
	return ""
}

// end destroys with a context of its own: the run's may be cancelled.
func (m *machine) end(sb sandbox.Sandbox) error {
	ctx, cancel := context.WithTimeout(context.Background(), destroyLimit)
	defer cancel()
	return sb.Destroy(ctx)
}
