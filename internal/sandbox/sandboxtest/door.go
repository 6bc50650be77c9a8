package sandboxtest

import (
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// serve answers at a world's door from now on.
func (r *room) serve(w *world, answer func(net.Conn)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doors[w.id] = answer
}

// echo sends everything back when the other end has said all.
func echo(conn net.Conn) {
	text, err := io.ReadAll(conn)
	if err == nil {
		_, _ = conn.Write(text)
	}
}

const knock = `nc 127.0.0.1 569`

func testDoor(t *testing.T, r *room) {
	t.Run("leads to its own world", func(t *testing.T) {
		for range 2 {
			w := r.world(t, sandboxWorld)
			r.serve(w, func(conn net.Conn) { fmt.Fprintln(conn, "the door of", w.id) })
			require.Equal(t, "the door of "+w.id+"\n", w.sh(t, knock+` </dev/null`))
		}
	})
	t.Run("an answer after all is said", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		r.serve(w, echo)
		require.Equal(t, "question\n", w.sh(t, `echo question | `+knock))
		require.Equal(t, "3000000\n", w.sh(t, `head -c 3000000 /dev/zero | `+knock+` | wc -c`))
	})
	t.Run("closed by the host", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		r.serve(w, func(conn net.Conn) { _, _ = conn.Write([]byte("no")) })
		require.Equal(t, "no", w.sh(t, `mkfifo /tmp/p; sleep 1000 >/tmp/p & timeout 60 `+knock+` </tmp/p`))
	})
	t.Run("bytes as they are, both ways at once", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		r.serve(w, func(conn net.Conn) { _, _ = io.Copy(conn, conn) })
		require.Equal(t, "\x00\xff\r\n", w.sh(t, `printf '\000\377\r\n' | `+knock))
	})
	t.Run("nobody else's address", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.fails(t, `echo x | nc -w 2 10.0.2.2 80`)
		w.fails(t, `echo x | nc -w 2 127.0.0.1 570`)
		w.fails(t, `nslookup example.com`)
	})

	t.Run("300 at once stay bounded", func(t *testing.T) {
		w := r.probed(t, sandbox.WorldSpec{})
		var open, most atomic.Int64
		r.serve(w, func(conn net.Conn) {
			now := open.Add(1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			echo(conn)
			open.Add(-1)
		})
		require.Equal(t, "300\n", w.sh(t, `probe door 300`))
		require.LessOrEqual(t, most.Load(), int64(256))
		t.Logf("at most %d open at once", most.Load())
	})

	t.Run("one world's crowd does not close another's door", func(t *testing.T) {
		crowd, w := r.world(t, sandboxWorld), r.world(t, sandboxWorld)
		arrived := make(chan struct{}, 1000)
		r.serve(crowd, func(conn net.Conn) {
			arrived <- struct{}{}
			_, _ = io.Copy(io.Discard, conn)
		})
		r.serve(w, echo)
		stop := crowd.start(t, `for i in $(seq 60); do sleep 3001 | `+knock+` & done; echo up; wait`)
		<-arrived
		require.Equal(t, "in\n", w.sh(t, `echo in | timeout 60 `+knock))
		require.Error(t, stop())
	})

	t.Run("gone with its world", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		arrived, ended := make(chan struct{}), make(chan struct{})
		r.serve(w, func(conn net.Conn) {
			close(arrived)
			_, _ = io.Copy(io.Discard, conn)
			close(ended)
		})
		w.start(t, `sleep 3002 | `+knock+` & echo up; wait`)
		<-arrived
		require.NoError(t, w.Close(t.Context()))
		select {
		case <-ended:
		case <-time.After(inTime):
			require.Fail(t, "the door of a closed world is open")
		}
	})

	t.Run("a stalled broker holds back its caller only", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		release := make(chan struct{})
		defer close(release)
		r.serve(w, func(net.Conn) { <-release })
		stop := w.start(t, `head -c 20000000 /dev/zero | `+knock+` & echo up; wait`)
		require.Equal(t, "5000000\n", w.sh(t, `head -c 5000000 /dev/zero | wc -c`))
		require.Error(t, stop())
	})
}
