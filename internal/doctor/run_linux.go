package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
)

func run(ctx context.Context, m Machine) []Check {
	checks := []Check{system(), qemu(ctx), kvm(m.CacheDir, m.Accel), guest()}
	checks = append(checks, images(m.CacheDir)...)
	checks = append(checks, snapshots(m.CacheDir))
	checks = append(checks, tools(m), uids(m.LookupEnv, "/etc/subuid", "/etc/subgid"), mkfs(), namespaces(ctx), memory(m))
	checks = append(checks, space("cache", m.CacheDir), space("state", m.StateDir), space("scratch", m.ScratchDir))
	return append(checks, strays(ctx, m))
}

func system() Check {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return Check{"system", Warn, "uname: " + err.Error(), "uname -a"}
	}
	return Check{"system", OK, fmt.Sprintf("Linux %s, %s, %d CPUs", unix.ByteSliceToString(name.Release[:]), runtime.GOARCH, runtime.NumCPU()), ""}
}

// toolLimit is how long a program may take to say who it is.
const toolLimit = time.Second

// emulator is QEMU's program for this architecture and the Debian package that brings it.
func emulator() (program, pkg string) {
	if runtime.GOARCH == "arm64" {
		return "qemu-system-aarch64", "qemu-system-arm"
	}
	return "qemu-system-x86_64", "qemu-system-x86"
}

func qemu(ctx context.Context) Check {
	program, pkg := emulator()
	path, err := exec.LookPath(program)
	if err != nil {
		return Check{"qemu", Fail, program + " is not installed", "sudo apt-get install " + pkg}
	}
	ctx, cancel := context.WithTimeout(ctx, toolLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	line, _, _ := strings.Cut(string(out), "\n")
	if err != nil || !strings.Contains(line, "version ") {
		return Check{"qemu", Fail, path + " does not say its version", "sudo apt-get install --reinstall " + pkg}
	}
	return Check{"qemu", OK, line, ""}
}

// kvm says what is known: a device that is there and opens may still not work, and only booting a VM can tell. The
// first run does that and remembers.
func kvm(cacheDir, accel string) Check {
	if accel == "tcg" {
		return Check{"kvm", Warn, "not used: accel is tcg, so VMs are emulated, which is slow and no security boundary", "unset JOY_ACCEL, or accel: auto in joy's configuration"}
	}
	program, _ := emulator()
	path, err := exec.LookPath(program)
	if err != nil {
		path = "/proc/self/exe" // the device can be looked at without it
	}
	v, known, err := microvm.KVM(cacheDir, path)
	switch {
	case err != nil:
		return Check{"kvm", Warn, err.Error(), "joy doctor --deep"}
	case !known:
		return Check{"kvm", OK, "/dev/kvm is present; the first run, or joy doctor --deep, finds out whether it works", ""}
	case v.Works:
		return Check{"kvm", OK, v.Reason, ""}
	}
	const otherwise = "run on a machine with hardware virtualisation"
	return Check{"kvm", Warn, v.Reason + "; VMs are emulated, which is slow and no security boundary", cmp.Or(v.Fix, otherwise)}
}

func guest() Check {
	if _, err := image.Guest(runtime.GOARCH); err != nil {
		return Check{"guest", Fail, err.Error(), hint(err)}
	}
	return Check{"guest", OK, "joy carries joy-guest for linux/" + runtime.GOARCH, ""}
}

// hint is the remedy that an error of joy's own brings.
func hint(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Hint
	}
	return ""
}

// images looks for what a VM boots from: without base most agents cannot run, without any image none.
func images(cacheDir string) []Check {
	all, err := image.List(cacheDir)
	var checks []Check
	for _, f := range fault.All(err) {
		checks = append(checks, Check{"image", Warn, f.Error(), f.Hint})
	}
	if len(all) == 0 {
		return append(checks, Check{"image", Fail, "no image in " + cacheDir, "joy image build"})
	}
	base, err := image.Latest(cacheDir, "base")
	if err != nil {
		return append(checks, Check{"image", Warn, err.Error(), hint(err)})
	}
	detail := "base is " + short(base)
	for _, img := range all {
		if img.Digest() != base.Digest() {
			detail += ", " + img.Manifest.Profile + " " + short(img)
		}
	}
	return append(checks, Check{"image", OK, detail, ""})
}

// snapshots looks for the memory of booted guests that VMs start from.
func snapshots(cacheDir string) Check {
	all, err := microvm.Snapshots(cacheDir)
	switch {
	case err != nil:
		return Check{"snapshot", Warn, err.Error(), "ls -ld " + filepath.Join(cacheDir, "snapshots")}
	case len(all) == 0:
		return Check{"snapshot", OK, "none in the cache: the next VM starts cold", ""}
	}
	var size int64
	for _, snap := range all {
		size += snap.Size
	}
	used := all[0].Used.UTC().Format(time.DateOnly) // the one used last comes first
	return Check{"snapshot", OK, fmt.Sprintf("%d in the cache, %d MiB; last used %s", len(all), size>>20, used), ""}
}

// short names an image as joy image show understands it.
func short(img image.Image) string { return img.Digest()[:len("sha256:")+12] }

func tools(m Machine) Check {
	if err := image.Needs("base", m.LookupEnv); err != nil {
		return Check{"image-tools", Warn, err.Error(), hint(err)}
	}
	return Check{"image-tools", OK, "images can be built here", ""}
}

// mkfs makes the scratch disk of a VM; ordinary users often lack /usr/sbin on their PATH.
func mkfs() Check {
	for _, path := range []string{"mkfs.ext4", "/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"} {
		if path, err := exec.LookPath(path); err == nil {
			return Check{"mkfs", OK, path, ""}
		}
	}
	return Check{"mkfs", Fail, "mkfs.ext4 is not installed: no scratch disk for a VM", "sudo apt-get install e2fsprogs"}
}

// namespaces tries what confines QEMU: a process in namespaces of its own.
func namespaces(ctx context.Context) Check {
	ctx, cancel := context.WithTimeout(ctx, toolLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if err := cmd.Run(); err != nil {
		return Check{"namespaces", Warn, "user namespaces are refused (" + err.Error() + "): QEMU runs less confined", namespacesFix()}
	}
	return Check{"namespaces", OK, "QEMU can run in namespaces of its own", ""}
}

func namespacesFix() string {
	if _, err := os.Stat("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"); err == nil {
		return "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	}
	return "sudo sysctl user.max_user_namespaces=10000"
}

// Free space, in bytes: below low an image may not fit, below least a run may not either.
const (
	low   = 4 << 30
	least = 256 << 20
)

func space(what, dir string) Check {
	id, at := "space-"+what, dir
	var st unix.Statfs_t
	err := unix.Statfs(at, &st)
	for errors.Is(err, unix.ENOENT) && at != filepath.Dir(at) { // not made yet: its disk is its parent's
		at = filepath.Dir(at)
		err = unix.Statfs(at, &st)
	}
	if err != nil {
		return Check{id, Fail, dir + ": " + err.Error(), "ls -ld " + dir}
	}
	free := st.Bavail * uint64(st.Bsize)
	detail := fmt.Sprintf("%.1f GiB free for %s", gib(int64(free)), dir)
	switch {
	case free < least:
		return Check{id, Fail, detail, "joy gc --cache"}
	case free < low:
		return Check{id, Warn, detail, "joy gc --cache"}
	}
	return Check{id, OK, detail, ""}
}
