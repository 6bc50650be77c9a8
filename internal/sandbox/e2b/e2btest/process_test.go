//go:build linux

package e2btest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	b := talk(t, Options{}).create(`{"templateID":"base","timeout":60,"envVars":{"A":"created","B":"created"}}`)
	for name, c := range map[string]struct {
		script, user, stdout, stderr, end string
	}{
		"success has no exit code": {`echo o; echo e >&2`, "user", "o\n", "e\n", `{"exited":true,"status":"exit status 0"}`},
		"failure":                  {`exit 3`, "user", "", "", `{"exitCode":3,"exited":true,"status":"exit status 3","error":"exit status 3"}`},
		"a signal":                 {`kill -KILL $$`, "user", "", "", `{"exitCode":-1,"status":"signal: killed","error":"signal: killed"}`},
		"environment":              {`echo $A $B $E2B_SANDBOX $USER $LOGNAME $HOME $PWD`, "user", "created created true user user /home/user /home/user\n", "", `{"exited":true,"status":"exit status 0"}`},
		"root":                     {`id -u; pwd`, "root", "0\n/root\n", "", `{"exited":true,"status":"exit status 0"}`},
		"half a character":         {`printf '\303'`, "user", "\xc3", "", `{"exited":true,"status":"exit status 0"}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := b.run(c.script, asUser(c.user))
			require.NotZero(t, h.pid)
			require.Equal(t, heard{pid: h.pid, stdout: c.stdout, stderr: c.stderr, end: c.end, closed: true}, h)
		})
	}
	t.Run("a missing program is no error of the call", func(t *testing.T) {
		h := b.open("process.Process/Start", `{"process":{"cmd":"no-such-program"}}`, nil).rest()
		require.Contains(t, h.end, `"exitCode":127`)
		require.Contains(t, h.stderr, "no-such-program")
	})
	t.Run("it waits for who holds its output", func(t *testing.T) {
		begun := time.Now()
		require.Equal(t, "done\n", b.run(`sleep 1 & echo done`, nil).stdout)
		require.Greater(t, time.Since(begun), time.Second)
	})
	t.Run("much at once", func(t *testing.T) {
		h := b.run(`head -c 3000000 /dev/zero`, nil)
		require.Len(t, h.stdout, 3000000)
		require.True(t, h.closed)
	})
}

// HTTP/1 may cut an answer that begins before its request has ended; none of these may be.
func TestManyShortCommands(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			mine := &box{&talker{b.Server, t}, b.ID, b.Token}
			for range 40 {
				h := mine.run(`exit 3`, nil)
				require.Contains(t, h.end, `"exitCode":3`)
				require.True(t, h.closed)
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	for name, c := range map[string]struct {
		body, code string
		head       map[string]string
	}{
		"cwd missing":      {`{"process":{"cmd":"true","cwd":"/nowhere"}}`, "invalid_argument", nil},
		"cwd is a file":    {`{"process":{"cmd":"true","cwd":"/etc/passwd"}}`, "invalid_argument", nil},
		"not JSON":         {`{`, "invalid_argument", nil},
		"wrong type":       {`{"process":{"cmd":1}}`, "invalid_argument", nil},
		"unknown user":     {`{"process":{"cmd":"true"}}`, "unauthenticated", asUser("nobody-here")},
		"timeout no digit": {`{"process":{"cmd":"true"}}`, "invalid_argument", map[string]string{"Connect-Timeout-Ms": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, heard{failed: c.code, closed: true}, b.open("process.Process/Start", c.body, c.head).rest())
		})
	}
	for name, c := range map[string]struct {
		method, path string
		head         map[string]string
		want         int
	}{
		"no token":      {"POST", "/process.Process/List", map[string]string{"X-Access-Token": ""}, 401},
		"another token": {"POST", "/process.Process/List", map[string]string{"X-Access-Token": "ea_0"}, 401},
		"binary form":   {"POST", "/process.Process/List", map[string]string{"Content-Type": "application/proto"}, 415},
		"not enveloped": {"POST", "/process.Process/Start", nil, 415},
		"GET":           {"GET", "/process.Process/List", nil, 405},
		"no such call":  {"POST", "/process.Process/Fork", nil, 404},
		"version 2":     {"POST", "/process.Process/List", map[string]string{"Connect-Protocol-Version": "2"}, 400},
		"init":          {"POST", "/init", nil, 404},
		"no port":       {"POST", "/process.Process/List", map[string]string{headerPort: ""}, 400},
		"another port":  {"POST", "/process.Process/List", map[string]string{headerPort: "8080"}, 502},
		"no sandbox":    {"POST", "/process.Process/List", map[string]string{headerID: "i0000000000000000000"}, 502},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := b.do(c.method, c.path, b.head(c.head), `{}`)
			require.NoError(t, err)
			is(t, c.want, a)
		})
	}
	a, err := b.do("GET", "/health", map[string]string{headerID: b.ID, headerPort: "49983"}, "")
	require.NoError(t, err)
	is(t, 204, a)
}

func TestKill(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	for name, c := range map[string]struct{ signal, status string }{
		"term": {"SIGNAL_SIGTERM", "signal: terminated"}, "kill": {"SIGNAL_SIGKILL", "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			l := b.begin(`echo up; sleep 1000`)
			is(t, 200, b.call("process.Process/SendSignal", fmt.Sprintf(`{"process":{"pid":%d},"signal":%q}`, l.pid, c.signal)))
			// The leader's child holds the output and is not killed with it.
			other := b.run(`pkill -f 'sleep 100[0]' || kill $(pidof sleep); echo ok`, nil)
			require.Equal(t, "ok\n", other.stdout)
			require.Contains(t, l.rest().end, c.status)
		})
	}
	t.Run("a group, as joy ends one", func(t *testing.T) {
		l := b.begin(`exec setsid bash -c 'echo up; sleep 2000 & sleep 2000'`)
		b.run(fmt.Sprintf(`kill -KILL -- -%d`, l.pid), nil)
		eventually(t, func() bool { return b.run(`ps -o args | grep -c '[s]leep 2000'`, nil).stdout == "0\n" })
		require.Contains(t, l.rest().end, "killed")
	})
	for body, want := range map[string]int{
		`{"process":{"pid":999999},"signal":"SIGNAL_SIGKILL"}`: 404, `{"process":{"pid":1},"signal":"SIGNAL_SIGKILL"}`: 404,
		`{"process":{},"signal":"SIGNAL_SIGKILL"}`: 501, `{"process":{"pid":2},"signal":"SIGNAL_SIGINT"}`: 400,
	} {
		is(t, want, b.call("process.Process/SendSignal", body))
	}
	t.Run("a deadline", func(t *testing.T) {
		h := b.run(`echo up; exec sleep 3000`, map[string]string{"Connect-Timeout-Ms": "300"})
		require.Equal(t, "deadline_exceeded", h.failed)
		require.Empty(t, h.end)
		eventually(t, func() bool { return b.run(`ps -o args | grep -c '[s]leep 3000'`, nil).stdout == "0\n" })
	})
}

func TestInput(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	put := func(pid uint32, text string) answered {
		return b.call("process.Process/SendInput", fmt.Sprintf(`{"process":{"pid":%d},"input":{"stdin":%q}}`, pid, base64.StdEncoding.EncodeToString([]byte(text))))
	}
	l := b.begin(`echo up; cat`)
	is(t, 200, put(l.pid, "a\n"))
	l.until(func(h heard) bool { return h.stdout == "up\na\n" })
	is(t, 200, put(l.pid, "b\n"))
	is(t, 200, b.call("process.Process/CloseStdin", fmt.Sprintf(`{"process":{"pid":%d}}`, l.pid)))
	require.Equal(t, "up\na\nb\n", l.rest().stdout)
	is(t, 500, put(l.pid, "late"))
	is(t, 404, put(999999, "x"))

	without := b.open("process.Process/Start", `{"stdin":false,"process":{"cmd":"sh","args":["-c","cat; echo up; sleep 1000"]}}`, nil)
	without.until(func(h heard) bool { return h.stdout == "up\n" })
	a := put(without.pid, "x")
	is(t, 500, a)
	require.Contains(t, a.message(), "stdin not enabled or closed")
}

func TestConnect(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	connect := func(pid uint32) *listen {
		return b.open("process.Process/Connect", fmt.Sprintf(`{"process":{"pid":%d}}`, pid), nil)
	}
	t.Run("what nobody heard is lost, the end is not", func(t *testing.T) {
		// The zeros are more than a pipe holds: when the command is past them, the daemon has thrown away what was before.
		l := b.begin(`echo up; read x; echo unheard; head -c 200000 /dev/zero; touch /tmp/past; read x; echo last; exit 4`)
		require.NoError(t, l.body.Close())
		enter := fmt.Sprintf(`{"process":{"pid":%d},"input":{"stdin":"Cg=="}}`, l.pid)
		is(t, 200, b.call("process.Process/SendInput", enter))
		eventually(t, func() bool { return b.run(`test -e /tmp/past && echo past`, nil).stdout == "past\n" })
		again := connect(l.pid)
		again.until(func(h heard) bool { return h.pid == l.pid })
		is(t, 200, b.call("process.Process/SendInput", enter))
		h := again.rest()
		require.Equal(t, "last\n", strings.TrimLeft(h.stdout, "\x00"))
		require.Contains(t, h.end, `"exitCode":4`)
		late := connect(l.pid).rest()
		require.Contains(t, late.end, `"exitCode":4`)
		require.True(t, late.closed)
	})
	t.Run("unknown", func(t *testing.T) {
		require.Equal(t, heard{failed: "not_found", closed: true}, connect(999999).rest())
	})
	t.Run("of many tags one is found at most", func(t *testing.T) {
		const many = 8 // that all were found has a chance of one in 8^8
		for i := range many {
			body := fmt.Sprintf(`{"tag":"t%d","process":{"cmd":"sleep","args":["1000"]}}`, i)
			b.open("process.Process/Start", body, nil).until(func(h heard) bool { return h.pid != 0 })
		}
		list := b.call("process.Process/List", `{}`)
		missed := 0
		for i := range many {
			require.Contains(t, list.body, fmt.Sprintf(`"tag":"t%d"`, i))
			if b.call("process.Process/Update", fmt.Sprintf(`{"process":{"tag":"t%d"}}`, i)).status == 404 {
				missed++
			}
		}
		require.Positive(t, missed)
	})
}

func TestKeepalive(t *testing.T) {
	k := talk(t, Options{})
	b := k.create(plain)
	h := b.run(`sleep 2.5`, map[string]string{"Keepalive-Ping-Interval": "1"})
	require.GreaterOrEqual(t, h.pings, 1)
	require.NotEmpty(t, h.end)
	require.Zero(t, b.run(`sleep 1.5`, map[string]string{"Keepalive-Ping-Interval": "often"}).pings)
	t.Run("0 is the daemon's death", func(t *testing.T) {
		for _, interval := range []string{"0", "-1"} {
			b := k.create(plain)
			req := b.head(map[string]string{"Keepalive-Ping-Interval": interval, "Content-Type": "application/connect+json"})
			a, _ := b.do("POST", "/process.Process/Start", req, "\x00\x00\x00\x00\x1a"+`{"process":{"cmd":"true"}}`)
			require.NotEqual(t, 200, a.status)
			eventually(t, func() bool { return k.api("GET", "/sandboxes/"+b.ID, "").status == 404 })
		}
	})
}
