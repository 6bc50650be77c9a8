package sandboxtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// keptCapabilities are chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service, audit_write and
// setfcap: bits 0 1 3 4 5 6 7 10 29 31 of capabilities(7).
const keptCapabilities = "00000000a00004fb"

// refused are the answers to a call that is denied: EPERM of seccomp or for want of a capability, ENOSYS for calls of
// another architecture, ENOSPC where there may be no user namespace.
var refused = []string{"operation not permitted", "function not implemented", "no space left on device", "permission denied"}

func testConfinement(t *testing.T, r *room) {
	w := r.world(t, sandbox.WorldSpec{ReadOnly: []string{"skills/count"}})

	t.Run("status", func(t *testing.T) {
		status := map[string]string{}
		for line := range strings.Lines(w.sh(t, `cat /proc/self/status`)) {
			k, v, _ := strings.Cut(line, ":")
			status[k] = strings.TrimSpace(v)
		}
		for _, set := range []string{"CapPrm", "CapEff", "CapBnd"} {
			require.Equal(t, keptCapabilities, status[set], set)
		}
		for _, set := range []string{"CapInh", "CapAmb"} {
			require.Equal(t, "0000000000000000", status[set], set)
		}
		require.Equal(t, "1", status["NoNewPrivs"])
		require.Equal(t, "2", status["Seccomp"])
	})

	for name, script := range map[string]string{
		"mount":                  `mount -t tmpfs t /workspace/out`,
		"bind":                   `mount -o bind /workspace /tmp`,
		"umount":                 `umount /proc/sys`,
		"lazy umount":            `umount -l /workspace`,
		"remount":                `mount -o remount,rw /sys`,
		"pivot_root":             `pivot_root / /tmp`,
		"chroot":                 `chroot / true`,
		"unshare mounts":         `unshare -m true`,
		"unshare user":           `unshare -U true`,
		"setns":                  `nsenter -t 1 -m true`,
		"hostname":               `hostname other`,
		"kernel log":             `dmesg | grep .`,
		"reboot":                 `reboot -f`,
		"power":                  `poweroff -f`,
		"swap":                   `dd if=/dev/zero of=s bs=1M count=1 && mkswap s && swapon s`,
		"core_pattern":           `echo '|/tmp/x' >/proc/sys/kernel/core_pattern`,
		"sysctl":                 `sysctl -w kernel.hostname=x`,
		"sysrq":                  `echo b >/proc/sysrq-trigger`,
		"sysfs":                  `for f in /sys/power/state /sys/kernel/mm/ksm/run /sys/bus/pci/rescan; do echo 1 >$f && exit 0; done; false`,
		"environment of PID 1":   `cat /proc/1/environ`,
		"memory of PID 1":        `head -c 1 /proc/1/mem`,
		"maps of PID 1":          `grep . /proc/1/maps`,
		"root of PID 1":          `ls /proc/1/root/`,
		"program of PID 1":       `cat /proc/1/exe`,
		"descriptors of PID 1":   `for f in /proc/1/fd/*; do readlink $f && exit 0; head -c 1 $f && exit 0; done; false`,
		"descriptor of PID 1":    `cat /proc/1/fd/3`,
		"threads of PID 1":       `for f in /proc/1/task/*; do cat $f/environ && exit 0; ls $f/root/ && exit 0; readlink $f/fd/0 && exit 0; done; false`,
		"disk by number":         `mknod d b 254 0 && head -c 1 d`,
		"disk by number, in dev": `mknod /dev/d b 254 16 && head -c 1 /dev/d`,
		"port by number":         `mknod p c 10 229 && head -c 1 p`,
		"memory by number":       `mknod m c 1 1 && head -c 1 m`,
		"disks and ports":        `ls /dev/vd* /dev/vport* /dev/sd* /dev/mem /dev/kmsg /dev/hvc* 2>/dev/null | grep .`,
		"console":                `test -c /dev/console || test -c /dev/ttyS0`,
		"network device":         `ls /sys/class/net | grep -v '^lo$' | grep .`,
		"route":                  `ip route | grep .`,
		"raw socket":             `ping -c 1 -W 1 127.0.0.1`,
		"cgroup":                 `ls /sys/fs/cgroup | grep .`,
		"kernel memory":          `head -c 1 /proc/kcore | grep .`,
		"kernel symbols":         `grep . /proc/kallsyms`,
		"keys":                   `grep . /proc/keys`,
		"timers":                 `grep . /proc/timer_list`,
		"firmware":               `ls /sys/firmware | grep .`,
		"acpi":                   `ls /proc/acpi | grep .`,
	} {
		t.Run("refused: "+name, func(t *testing.T) { w.fails(t, script) })
	}

	t.Run("calls", func(t *testing.T) {
		probe := r.probed(t, sandboxWorld)
		seen := 0
		for line := range strings.Lines(probe.sh(t, `probe calls`)) {
			name, result, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if slices.Contains(r.without, name) {
				continue
			}
			require.Contains(t, refused, result, name)
			seen++
		}
		require.Greater(t, seen, 50)
	})
	t.Run("a setuid program", func(t *testing.T) {
		probe := r.probed(t, sandboxWorld)
		probe.sh(t, `cp /bin/busybox /tmp/id && chmod 4755 /tmp/id`)
		require.Equal(t, "1\n", probe.sh(t, `probe as 1 /tmp/id -u`))
	})
	require.Equal(t, "alive\n", w.sh(t, "echo alive"))
}
