package sandboxtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

func testIsolation(t *testing.T, r *room) {
	env := func(token string) sandbox.WorldSpec {
		return sandbox.WorldSpec{Env: map[string]string{"PATH": "/workspace/bin:" + searchPath, "TOKEN": token}}
	}
	a, b := r.probed(t, env("token-of-a")), r.probed(t, env("token-of-b"))
	each := map[string]*world{"a": a, "b": b}

	t.Run("files of one name", func(t *testing.T) {
		places := `/workspace/f /tmp/f /usr/local/f /etc/f /root/f /dev/shm/f`
		for name, w := range each {
			w.sh(t, `mkdir -p /root; for f in `+places+`; do echo `+name+` >$f; done`)
		}
		for name, w := range each {
			require.Equal(t, strings.Repeat(name+"\n", 6), w.sh(t, `cat `+places))
		}
	})

	t.Run("one port in both", func(t *testing.T) {
		for name, w := range each {
			w.start(t, `mkdir -p www; echo `+name+` >www/index.html; httpd -f -p 127.0.0.1:8000 -h www &
				until wget -q -O /dev/null http://127.0.0.1:8000/ 2>/dev/null; do sleep 0.1; done; echo up; wait`)
		}
		for name, w := range each {
			require.Equal(t, name+"\n", w.sh(t, `wget -q -O - http://127.0.0.1:8000/`))
		}
	})

	t.Run("processes and tokens", func(t *testing.T) {
		a.start(t, `echo up; sleep 2001`)
		require.Contains(t, a.sh(t, `ps -o args`), "sleep 2001", "it would be seen")
		require.NotContains(t, b.sh(t, `ps -o args; cat /proc/[0-9]*/cmdline | tr '\0' ' '`), "2001")
		require.Contains(t, a.sh(t, `cat /proc/[0-9]*/environ 2>/dev/null; true`), "token-of-a", "it would be seen")
		require.NotContains(t, b.sh(t, `cat /proc/[0-9]*/environ 2>/dev/null; set`), "token-of-a")
		b.fails(t, `for p in $(seq 2 300); do kill -0 $p 2>/dev/null && tr '\0' ' ' </proc/$p/cmdline | grep -q 'sleep 200[1]' && exit 0; done; exit 1`)
	})

	t.Run("abstract sockets", func(t *testing.T) {
		a.start(t, `sleep 2002 | probe abstract joy-secret`)
		require.Contains(t, a.sh(t, `cat /proc/net/unix`), "@joy-secret", "it would be seen")
		require.NotContains(t, b.sh(t, `cat /proc/net/unix`), "@joy-secret")
	})

	t.Run("open ports", func(t *testing.T) {
		const listening = `cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':1FBB '`
		a.start(t, `nc -l -p 8123 & until `+listening+`; do sleep 0.1; done; echo up; wait`)
		b.fails(t, `echo x | nc -w 2 127.0.0.1 8123`)
		b.fails(t, listening)
	})

	for _, kind := range []string{"shm", "mq"} {
		t.Run(kind, func(t *testing.T) {
			a.fails(t, `probe `+kind+` find`)
			a.sh(t, `probe `+kind+` make`)
			a.sh(t, `probe `+kind+` find`)
			b.fails(t, `probe `+kind+` find`)
		})
	}

	t.Run("namespaces", func(t *testing.T) {
		spaces := `for n in mnt pid net ipc uts cgroup; do readlink /proc/self/ns/$n; done`
		in := map[string]bool{}
		for _, w := range each {
			for ns := range strings.Lines(w.sh(t, spaces)) {
				require.False(t, in[ns], "both worlds are in %s", ns)
				in[ns] = true
			}
		}
		require.Len(t, in, 12)
	})

	t.Run("mounts name no other world", func(t *testing.T) {
		require.NotContains(t, a.sh(t, `cat /proc/self/mountinfo /proc/self/cgroup`), "/"+b.id+"/")
	})

	t.Run("one is killed, the other is not", func(t *testing.T) {
		stop := a.start(t, `echo up; sleep 2003`)
		require.NoError(t, b.Close(t.Context()))
		require.Contains(t, a.sh(t, `ps -o args`), "sleep 2003")
		require.ErrorIs(t, stop(), context.Canceled)
	})
}
