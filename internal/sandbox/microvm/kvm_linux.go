package microvm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/ordinary"
)

// probeLimit is how long a VM under KVM may take to its ready line. Where KVM works that is under a second.
const probeLimit = 8 * time.Second

// Verdict is whether KVM works here, and how that is known.
type Verdict struct {
	Works  bool   `json:"works"`
	Reason string `json:"reason"`
	Fix    string `json:"-"` // a command, where one is known
	BootID string `json:"boot_id"`
	QEMU   string `json:"qemu"` // path, size and time of the program that was tried
}

// accelerator decides between kvm and tcg.
func (p *Provider) accelerator(ctx context.Context, m *machine) (string, error) {
	switch p.Accel {
	case "kvm", "tcg":
		return p.Accel, nil
	case "", "auto":
	default:
		return "", fmt.Errorf("accelerator %q: choose auto, kvm or tcg", p.Accel)
	}
	v, err := kvmVerdict(ctx, m)
	if err != nil {
		return "", err
	}
	if v.Works {
		return "kvm", nil
	}
	return "tcg", nil
}

// kvmVerdict looks at /dev/kvm and, when it is there, boots a VM with it once per boot of the host: the device exists
// and opens on machines where a guest then crashes or hangs. The answer is kept in the cache.
func kvmVerdict(ctx context.Context, m *machine) (Verdict, error) {
	v, known, err := KVM(m.cacheDir, m.qemu)
	if err != nil || known {
		return v, err
	}
	v.Works, v.Reason = tryKVM(ctx, *m)
	if ctx.Err() != nil {
		return Verdict{}, ctx.Err()
	}
	return v, writeVerdict(verdictFile(m.cacheDir), v)
}

func verdictFile(cacheDir string) string { return filepath.Join(cacheDir, "kvm.json") }

// KVM is what is known of it, without trying: known is false where only booting a VM can tell. qemu is the path of the
// program.
func KVM(cacheDir, qemu string) (v Verdict, known bool, err error) {
	fd, err := unix.Open("/dev/kvm", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return Verdict{Reason: fmt.Sprintf("/dev/kvm: %v", err), Fix: openFix(err)}, true, nil
	}
	unix.Close(fd)
	if h, err := newHold(limits{kvm: true}, nil); err != nil || h.uid >= 0 && !h.opensKVM() {
		return Verdict{Reason: "/dev/kvm is root's alone and QEMU is not run as root", Fix: "sudo chmod 666 /dev/kvm"}, true, err
	}
	bootID, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return v, false, err
	}
	program, err := os.Stat(qemu)
	if err != nil {
		return v, false, err
	}
	v.BootID = strings.TrimSpace(string(bootID))
	v.QEMU = fmt.Sprintf("%s %d %d", qemu, program.Size(), program.ModTime().UnixNano())
	if was, ok := readVerdict(verdictFile(cacheDir)); ok && was.BootID == v.BootID && was.QEMU == v.QEMU {
		return was, true, nil
	}
	return v, false, nil
}

// openFix is what helps where the device does not open.
func openFix(err error) string {
	switch {
	case errors.Is(err, os.ErrPermission):
		return "sudo usermod -aG kvm $USER, and log in again"
	case errors.Is(err, os.ErrNotExist):
		return "sudo modprobe kvm_intel || sudo modprobe kvm_amd, on a machine with hardware virtualisation"
	}
	return ""
}

func readVerdict(file string) (v Verdict, ok bool) {
	b, err := ordinary.Read(file, maxNote)
	return v, err == nil && json.Unmarshal(b, &v) == nil
}

func writeVerdict(file string, v Verdict) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".kvm-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(body)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// tryKVM boots the same VM to its ready line under KVM. QEMU is a process of its own, so a crash is an answer.
func tryKVM(ctx context.Context, m machine) (works bool, reason string) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	m.accel, m.memory, m.cpus, m.console = "kvm", 256<<20, 1, nil
	proc, err := m.start(nil)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = proc.destroy() }()
	if err := proc.awaitReady(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return false, fmt.Sprintf("a VM under KVM did not answer within %s", probeLimit)
		}
		return false, proc.explain(err).Error()
	}
	return true, "a VM under KVM booted"
}
