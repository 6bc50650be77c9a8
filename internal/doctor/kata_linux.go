package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/kata"
)

// Kata looks at what VMs of Kata Containers need.
type Kata struct {
	Provider *kata.Provider
	Runtime  string // its name in containerd
	Address  string // containerd's socket
	Wanted   bool   // the user's VMs come from there: what is missing is a failure
	Lives    func(run string) bool
}

// shimDirs are where packages put the shim, besides PATH; containerd's own PATH may have them.
var shimDirs = []string{"/usr/local/bin", "/usr/bin", "/opt/kata/bin", "/opt/kata/runtime-rs/bin"}

// FindShim finds the program that containerd starts for a runtime.
func FindShim(runtime string) (string, error) {
	name := kata.Shim(runtime)
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range shimDirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed", name)
}

// Run makes the checks that make no VM.
func (k Kata) Run(ctx context.Context) []Check {
	checks := []Check{
		k.runtime(), k.device("kata-kvm", "/dev/kvm", "sudo modprobe kvm_intel || sudo modprobe kvm_amd"),
		k.device("kata-vsock", "/dev/vhost-vsock", "sudo modprobe vhost_vsock"),
	}
	about, err := k.Provider.About(ctx)
	if err != nil {
		return append(checks, k.missing("containerd", err))
	}
	checks = append(checks, Check{"containerd", OK, "containerd " + about.Version + " answers at " + k.Address, ""}, k.images(about))
	return append(checks, k.strays(ctx))
}

// bad is how a check ends whose subject is missing.
func (k Kata) bad() Status {
	if k.Wanted {
		return Fail
	}
	return Warn
}

func (k Kata) missing(id string, err error) Check {
	first := fault.All(err)[0]
	return Check{id, k.bad(), err.Error(), first.Hint}
}

func (k Kata) runtime() Check {
	path, err := FindShim(k.Runtime)
	if err != nil {
		return Check{"kata-runtime", k.bad(), err.Error() + ", which is the handler " + k.Runtime, installKata()}
	}
	return Check{"kata-runtime", OK, k.Runtime + " is " + path, ""}
}

// kataRelease is the one that docs/kata.md installs.
const kataRelease = "3.28.0"

// installKata is that page's commands, for whoever has joy and not the page.
func installKata() string {
	archive := "kata-static-" + kataRelease + "-" + runtime.GOARCH + ".tar.zst"
	return "sudo dnf install kata-containers, where there is such a package; else curl -LO https://github.com/kata-containers/kata-containers/releases/download/" +
		kataRelease + "/" + archive + " && sudo tar --zstd -xf " + archive +
		" -C / && sudo ln -s /opt/kata/bin/containerd-shim-kata-v2 /usr/local/bin/ (docs/kata.md)"
}

func (k Kata) device(id, path, fix string) Check {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Check{id, k.bad(), path + " is missing", fix}
	case err != nil:
		return Check{id, k.bad(), err.Error(), "ls -l " + path}
	case info.Mode()&os.ModeCharDevice == 0:
		return Check{id, k.bad(), path + " is no device", "ls -l " + path}
	}
	return Check{id, OK, path + " is present; joy doctor --deep finds out whether a VM of Kata's boots", ""}
}

func (k Kata) images(about kata.About) Check {
	if len(about.Images) == 0 {
		return Check{
			"kata-image", k.bad(), "containerd's namespace " + kata.Namespace + " has no image",
			"joy image export base --format oci -o base.oci.tar && " + kata.Ctr(k.Address) + " images import base.oci.tar",
		}
	}
	var names []string
	for _, i := range about.Images {
		names = append(names, i.Name+" "+i.Digest[:min(len(i.Digest), len("sha256:")+12)])
	}
	return Check{"kata-image", OK, strings.Join(names, ", "), ""}
}

func (k Kata) strays(ctx context.Context) Check {
	left, err := k.Provider.Orphans(ctx, k.Lives)
	switch {
	case err != nil:
		return k.missing("kata-strays", err)
	case len(left) > 0:
		return Check{"kata-strays", Warn, fmt.Sprintf("%d left by runs that are over, such as %s", len(left), left[0].ID), "joy gc"}
	}
	return Check{"kata-strays", OK, "nothing was left in containerd", ""}
}

// Boot makes a VM of Kata's of an image that is there, has it execute a command, and destroys it.
func (k Kata) Boot(ctx context.Context) []Check { return []Check{k.boot(ctx)} }

func (k Kata) boot(ctx context.Context) Check {
	const id = "kata-boot"
	ctx, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	about, err := k.Provider.About(ctx)
	if err != nil {
		return k.missing(id, err)
	}
	if len(about.Images) == 0 {
		return Check{id, k.bad(), "no image to boot", k.images(about).Fix}
	}
	begun := time.Now()
	sb, err := k.Provider.Create(ctx, sandbox.Spec{
		Run: "doctor", Image: about.Images[0].Digest, Isolation: "any", CPUs: 1, Memory: bootMemory, Disk: bootDisk,
	})
	if err != nil {
		return k.missing(id, err)
	}
	up := time.Since(begun)
	err = try(ctx, sb)
	took := time.Since(begun)
	if derr := sb.Destroy(context.WithoutCancel(ctx)); derr != nil {
		return Check{id, Fail, "the VM is not destroyed: " + derr.Error(), "joy gc"}
	}
	if err != nil {
		return k.missing(id, fmt.Errorf("the VM boots and runs no command: %w", err))
	}
	info := sb.Info()
	detail := fmt.Sprintf("a VM in %.1f s, a command after %.1f s; %s, confined by: %s", up.Seconds(), took.Seconds(), info.Isolation, info.Confinement)
	if info.Reduced != "" {
		return Check{id, Warn, detail + "; " + info.Reduced, "docs/kata.md, what a step has"}
	}
	return Check{id, OK, detail, ""}
}
