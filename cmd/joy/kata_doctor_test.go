//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
)

// check is a line of joy doctor --json.
type check struct{ ID, Status, Detail, Fix string }

// doctor runs joy doctor --json by a command that may begin otherwise, and gives its checks by name.
func (b *bench) doctor(t *testing.T, cmd *exec.Cmd) (code int, checks map[string]check) {
	t.Helper()
	var words strings.Builder
	cmd.Stderr = &words
	stdout, err := cmd.Output()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	var doc struct {
		Schema string
		OK     bool
		Checks []check
	}
	require.NoError(t, json.Unmarshal(stdout, &doc), "%s%s", stdout, &words)
	require.Equal(t, "joy.doctor/1", doc.Schema)
	checks, failed := map[string]check{}, false
	for _, c := range doc.Checks {
		require.Equal(t, c.Status == "ok", c.Fix == "", "%v: what is not well has a command that mends it", c)
		checks[c.ID] = c
		failed = failed || c.Status == "fail"
	}
	code = cmd.ProcessState.ExitCode()
	require.Equal(t, map[bool]int{true: 6}[failed], code)
	require.Equal(t, !failed, doc.OK)
	return code, checks
}

// withDevices is a command that sees, in the place of this machine's, a /dev with the devices that are named and others that
// every machine has.
func (b *bench) withDevices(devices string, joy ...string) *exec.Cmd {
	const script = `set -e
dev=$1 devices=$2
shift 2
for name in null zero full random urandom tty; do
	: >"$dev/$name"
	mount --bind "/dev/$name" "$dev/$name"
done
for name in $devices; do
	: >"$dev/$name"
	mount --bind /dev/null "$dev/$name"
done
mkdir "$dev/shm"
mount --rbind "$dev" /dev
exec "$@"`
	dev := b.t.TempDir()
	cmd := b.command()
	args := append([]string{"unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", dev, devices, cmd.Path}, joy...)
	cmd = exec.CommandContext(b.t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = b.dir, b.env
	return cmd
}

// shimIn is a directory with a shim in it, which nobody starts.
func shimIn(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "containerd-shim-kata-v2"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	return dir
}

// What joy doctor says of a machine where something for VMs of Kata's is missing. None of it needs a containerd.
func TestDoctorWithoutKata(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("it sees another /dev, which root alone can make")
	}
	needVM(t)
	b := newProject(t, waiting())
	b.env = append(b.env, "JOY_CONTAINERD="+filepath.Join(b.top, "none.sock"))
	bare := b.env

	_, checks := b.doctor(t, b.command("doctor", "--json"))
	if _, err := exec.LookPath("containerd-shim-kata-v2"); err != nil {
		require.NotContains(t, checks, "containerd", "who wants no VM of Kata's hears nothing of it")
	}
	b.env = append(bare, "PATH="+shimIn(t)+":"+os.Getenv("PATH"))
	_, checks = b.doctor(t, b.command("doctor", "--json"))
	require.Equal(t, []string{"ok", "warn"}, []string{checks["kata-runtime"].Status, checks["containerd"].Status}, "it is here and was not asked for")

	b.env = append(bare, "JOY_SANDBOX=kata", "JOY_KATA_RUNTIME=io.containerd.kata-absent.v2")
	code, checks := b.doctor(t, b.withDevices("", "doctor", "--json"))
	require.Equal(t, 6, code)
	for id, says := range map[string][2]string{
		"kata-runtime": {"containerd-shim-kata-absent-v2 is not installed", "docs/kata.md"},
		"kata-kvm":     {"/dev/kvm is missing", "sudo modprobe kvm_intel || sudo modprobe kvm_amd"},
		"kata-vsock":   {"/dev/vhost-vsock is missing", "sudo modprobe vhost_vsock"},
		"containerd":   {"does not answer", "sudo systemctl start containerd"},
	} {
		require.Equal(t, "fail", checks[id].Status, id)
		require.Contains(t, checks[id].Detail, says[0])
		require.Contains(t, checks[id].Fix, says[1])
	}
	require.NotContains(t, checks, "kata-image", "nobody could be asked")

	_, checks = b.doctor(t, b.withDevices("kvm vhost-vsock", "doctor", "--json"))
	require.Equal(t, []string{"ok", "ok"}, []string{checks["kata-kvm"].Status, checks["kata-vsock"].Status})

	code, stdout, _ := b.run("doctor")
	require.Equal(t, 6, code)
	require.Contains(t, stdout, "fix: ")
}

// What joy doctor says of a containerd that is there: without an image, with the image that its own command brings, and, with
// --deep, of the VM it makes. Nothing stays of that.
func TestDoctorWithKata(t *testing.T) {
	c := newCluster(t, "")
	b := newProject(t, waiting())
	runtime, _ := katatest.Runtime()
	bin := t.TempDir() // for the commands that doctor says: root needs no sudo
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sudo"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755))
	require.NoError(t, os.Symlink(c.joy, filepath.Join(bin, "joy")))
	b.joy = c.joy
	b.env = append(b.env, "PATH="+bin+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+c.cache, "JOY_SANDBOX=kata", "JOY_CONTAINERD="+c.Address, "JOY_KATA_RUNTIME="+runtime)

	_, checks := b.doctor(t, b.command("doctor", "--deep", "--json"))
	require.Equal(t, "ok", checks["containerd"].Status)
	require.Contains(t, checks["containerd"].Detail, c.Address)
	require.Equal(t, "ok", checks["kata-strays"].Status, "others' containers are none of joy's")
	require.Equal(t, "fail", checks["kata-image"].Status)
	require.Equal(t, []string{"fail", checks["kata-image"].Fix}, []string{checks["kata-boot"].Status, checks["kata-boot"].Fix})

	mend := exec.CommandContext(t.Context(), "sh", "-c", checks["kata-image"].Fix)
	mend.Dir, mend.Env = b.top, b.env
	out, err := mend.CombinedOutput()
	require.NoError(t, err, "the command that mends it: %s", out)
	_, checks = b.doctor(t, b.command("doctor", "--deep", "--json"))
	require.Equal(t, "ok", checks["kata-image"].Status)
	require.Contains(t, checks["kata-image"].Detail, "sha256:")
	require.NotEqual(t, "fail", checks["kata-boot"].Status, "%v", checks["kata-boot"])
	require.Contains(t, checks["kata-boot"].Detail, "a command after")
	if runtime != "io.containerd.kata.v2" {
		require.Contains(t, checks["kata-boot"].Detail, "the kernel is shared")
	}
	require.Empty(t, c.named(t, "joy-doctor"))
	c.leaves(b)

	b.joy = "" // what is shipped makes a VM or none
	code, checks := b.doctor(t, b.command("doctor", "--deep", "--json"))
	if runtime != "io.containerd.kata.v2" {
		require.Equal(t, 6, code)
		require.Equal(t, "fail", checks["kata-boot"].Status)
		require.Contains(t, checks["kata-boot"].Detail, "share this machine's kernel")
	}
	require.Empty(t, c.named(t, "joy-doctor"))

	c.Down(t)
	code, checks = b.doctor(t, b.command("doctor", "--deep", "--json"))
	require.Equal(t, 6, code)
	require.Equal(t, "fail", checks["containerd"].Status)
	require.Equal(t, "fail", checks["kata-boot"].Status)
	c.Up(t)
}
