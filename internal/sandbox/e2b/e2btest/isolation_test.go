//go:build linux

package e2btest

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// seen tells whether any process of this machine has the text in its arguments.
func seen(t *testing.T, text string) bool {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range lines {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}

func TestNothingIsLeft(t *testing.T) {
	k := talk(t, Options{})
	a, b := k.create(plain), k.create(plain)
	for _, box := range []*box{a, b} {
		l := box.begin(`(setsid bash -c 'trap "" TERM HUP; while :; do sleep 86317.` + box.ID + `; done' &) ; echo up; sleep 86318`)
		require.NoError(t, l.body.Close())
	}
	require.True(t, seen(t, "86317."+a.ID), "it would be seen")
	is(t, 204, k.api("DELETE", "/sandboxes/"+a.ID, ""))
	require.False(t, seen(t, "86317."+a.ID), "killed with its sandbox")
	require.True(t, seen(t, "86317."+b.ID), "the other lives")
	require.NoError(t, k.Close())
	require.NoError(t, k.Close(), "again")
	require.False(t, seen(t, "86317."+b.ID), "killed with the server")
	_, err := http.Get(k.URL)
	require.Error(t, err)
}

func TestMachinesAreApart(t *testing.T) {
	k := talk(t, Options{})
	a, b := k.create(plain), k.create(plain)
	self, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)
	root := func(b *box, script string) string { return b.run(script, asUser("root")).stdout }

	require.Equal(t, "0\n", root(a, `id -u`))
	require.NotEqual(t, self+"\n", root(a, `readlink /proc/self/ns/net`))
	for _, ns := range []string{"mnt", "pid", "net", "ipc", "uts", "user", "cgroup"} {
		read := `readlink /proc/self/ns/` + ns
		host, err := os.Readlink("/proc/self/ns/" + ns)
		require.NoError(t, err)
		require.NotEqual(t, root(a, read), root(b, read), ns)
		require.NotEqual(t, host+"\n", root(a, read), ns)
	}
	root(a, `echo mine >/tmp/f; echo mine >/root/f`)
	require.Equal(t, "0\n", root(b, `ls /tmp /root | grep -c f`))
	a.begin(`echo up; sleep 1003`)
	require.Equal(t, "0\n", root(b, `ps -o args | grep -c '[s]leep 1003'`))
	require.Equal(t, "lo\n", root(a, `ls /sys/class/net`))

	// Root here is nobody on the host: what is the kernel's, and not the machine's own, cannot be had.
	host, err := os.Hostname()
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	for name, script := range map[string]string{
		"a device":        `mknod /tmp/d b 8 0`,
		"the clock":       `date -s 2001-01-01 2>&1 | grep -q 'not permitted' && exit 1`,
		"the kernel":      `echo 1 >/proc/sys/kernel/panic`,
		"sysrq":           `echo b >/proc/sysrq-trigger`,
		"modules":         `insmod /etc/passwd 2>&1 | grep -q 'not permitted' && exit 1`,
		"the host's root": `ls '` + here + `'`,
		"its own disk":    `ls -d /dev/vd* /dev/sd* /dev/mem /dev/kmsg 2>/dev/null | grep .`,
		"the network":     `wget -q -T 2 -O- http://127.0.0.1:` + k.URL[len("http://127.0.0.1:"):],
	} {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, a.run(script, asUser("root")).end, "exit status 0")
		})
	}
	root(a, `hostname changed`)
	after, err := os.Hostname()
	require.NoError(t, err)
	require.Equal(t, host, after)
}
