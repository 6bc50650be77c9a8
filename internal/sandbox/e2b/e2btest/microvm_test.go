//go:build linux

package e2btest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A sandbox in a VM is a fresh Linux system, in which a program that runs as root can make worlds of its own.
func TestMicroVM(t *testing.T) {
	k := talk(t, Options{Runner: MicroVM{}})
	b := k.create(plain)
	require.Equal(t, "user /home/user e2b\n", b.run(`echo $(id -un) $PWD $(hostname)`, nil).stdout)
	for name, script := range map[string]string{
		"all capabilities":  `grep -q 'CapEff:.*ffffffff$' /proc/self/status`,
		"no filter":         `grep -q 'Seccomp:.0$' /proc/self/status && grep -q 'NoNewPrivs:.0$' /proc/self/status`,
		"a disk as root":    `grep -q ' / .* ext4 ' /proc/self/mountinfo`,
		"a tmpfs":           `mkdir /t && mount -t tmpfs t /t && umount /t`,
		"an overlay":        `mkdir -p /o/u /o/w /o/m && mount -t overlay o -o lowerdir=/,upperdir=/o/u,workdir=/o/w /o/m && touch /o/m/x && ls /o/u/x && umount /o/m`,
		"a root of its own": `mkdir -p /r && unshare -m sh -c 'mount --bind /r /r && mkdir /r/old && cd /r && pivot_root . old && umount -l /old'`,
		"namespaces":        `unshare -m -p -i -u -n -f true`,
		"cgroups": `cd /sys/fs/cgroup && mkdir j && echo 33554432 >j/memory.max && echo 10 >j/pids.max &&
			echo $$ >j/cgroup.procs && ! dd if=/dev/zero of=/dev/null bs=64M count=1`,
		"who kills":     `grep -q /system.slice/envd.service /proc/self/cgroup`,
		"only loopback": `test "$(ls /sys/class/net)" = lo`,
	} {
		t.Run(name, func(t *testing.T) {
			h := b.run(script, asUser("root"))
			require.Contains(t, h.end, `"exit status 0"`, "%+v", h)
		})
	}
	is(t, 200, b.put("path=f", "bytes", nil))
	require.Equal(t, "bytes", b.fetch("path=f", nil).body)
	require.Len(t, b.run(`head -c 3000000 /dev/zero`, nil).stdout, 3000000)
	l := b.begin(`echo up; sleep 1000`)
	t.Run("powered off from inside", func(t *testing.T) {
		b.open("process.Process/Start", shell(`kill -KILL $(pidof envd)`), asUser("root")).rest()
		require.False(t, l.rest().closed)
		eventually(t, func() bool { return len(k.Sandboxes()) == 0 })
	})
}
