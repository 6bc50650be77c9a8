package kata

import (
	"context"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/cap"
	"github.com/containerd/containerd/v2/pkg/oci"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

const (
	guestPath   = "/usr/local/bin/joy-guest"
	scratchPath = "/dev/joy-scratch"
)

// pids bound all processes of the container: a world at its bound, and the guest. The guest bounds each world where it has
// the controllers to.
const pids = 4096 + 1024

// specOpts make the container: joy-guest with all rights, since the VM is the boundary, on a read-only root. The steps get
// what restrict leaves them (docs/guest-protocol.md). Its network namespace has nothing in it but lo.
func (b *box) specOpts(guestFile string, device uint64) []oci.SpecOpts {
	host := guestproto.Host{Stdio: true, Kernel: b.kernel}
	if device != 0 {
		host.Scratch = scratchPath
	}
	const period = 100_000
	opts := []oci.SpecOpts{
		oci.WithDefaultSpec(),
		oci.WithProcessArgs(append([]string{guestPath}, host.Args()...)...),
		oci.WithRootFSReadonly(),
		oci.WithHostname("joy"),
		oci.WithCapabilities(b.capabilities()),
		oci.WithMaskedPaths(nil), oci.WithReadonlyPaths(nil),
		oci.WithLinuxNamespace(specs.LinuxNamespace{Type: specs.CgroupNamespace}),
		oci.WithCgroup("/" + b.container), // flat: no parent stays behind
		oci.WithMounts([]specs.Mount{
			{Destination: guestPath, Type: "bind", Source: guestFile, Options: []string{"bind", "ro", "nosuid", "nodev"}},
			{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup", Options: []string{"nosuid", "noexec", "nodev", "rw"}},
		}),
		oci.WithMemoryLimit(uint64(b.spec.Memory)),
		oci.WithCPUCFS(int64(b.spec.CPUs)*period, period),
		oci.WithPidsLimit(pids),
		withProcess(b.class != classNone),
	}
	if device != 0 {
		opts = append(opts, withDevice(device))
	}
	return opts
}

// capabilities are all that there are. With a shared kernel they are those that its owner has left.
func (b *box) capabilities() []string {
	if b.class == classNone {
		if have, err := cap.Current(); err == nil {
			return have
		}
	}
	return cap.Known()
}

// withProcess sets what a container's process has otherwise than the first process of joy's own VM. In a VM, what is killed
// for want of memory is a step.
func withProcess(vm bool) oci.SpecOpts {
	return func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
		if vm {
			score := -999
			s.Process.OOMScoreAdj = &score
		}
		s.Process.Rlimits = []specs.POSIXRlimit{{Type: "RLIMIT_NOFILE", Soft: 1024, Hard: 4096}} // the kernel's own
		s.Process.Env = nil
		return nil
	}
}

func withDevice(number uint64) oci.SpecOpts {
	return func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
		major, minor := int64(unix.Major(number)), int64(unix.Minor(number))
		s.Linux.Devices = append(s.Linux.Devices, specs.LinuxDevice{Path: scratchPath, Type: "b", Major: major, Minor: minor})
		s.Linux.Resources.Devices = append(s.Linux.Resources.Devices, specs.LinuxDeviceCgroup{
			Allow: true, Type: "b", Major: &major, Minor: &minor, Access: "rwm",
		})
		return nil
	}
}
