package sandboxtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

func testSurroundings(t *testing.T, r *room) {
	env := map[string]string{"PATH": searchPath, "HOME": "/root", "LANG": "C.UTF-8", "TZ": "UTC", "JOY_INPUT_TEXT": "a b\n\"c\" ünï"}
	w := r.world(t, sandbox.WorldSpec{Env: env})

	t.Run("environment is what was given", func(t *testing.T) {
		out := w.run(t, sandbox.Command{Argv: []string{"cat", "/proc/self/environ"}, Env: map[string]string{"TZ": "Asia/Tokyo", "ONE": "1"}})
		got := strings.Split(strings.TrimSuffix(out.stdout, "\x00"), "\x00")
		want := []string{"ONE=1", "TZ=Asia/Tokyo"}
		for k, v := range env {
			if k != "TZ" {
				want = append(want, k+"="+v)
			}
		}
		require.ElementsMatch(t, want, got)
	})
	t.Run("arguments are what was given", func(t *testing.T) {
		argv := []string{"printf", "%s|", "", " ", "a\nb", "$HOME", "*", "ünï", "-n", "\x1b[0m"}
		require.Equal(t, "| |a\nb|$HOME|*|ünï|-n|\x1b[0m|", w.run(t, sandbox.Command{Argv: argv}).stdout)
	})
	t.Run("an empty environment", func(t *testing.T) {
		bare := r.world(t, sandbox.WorldSpec{Env: map[string]string{}})
		require.Empty(t, bare.run(t, sandbox.Command{Argv: []string{"/bin/cat", "/proc/self/environ"}}).stdout)
	})

	for name, tc := range map[string][2]string{
		"directory":   {`pwd`, "/workspace"},
		"umask":       {`umask`, "0022"},
		"new files":   {`touch f; mkdir d; stat -c %a f d | xargs`, "644 755"},
		"hostname":    {`hostname; cat /etc/hostname | xargs`, "joy\njoy"},
		"time zone":   {`date -d @0 +%H%Z`, "00UTC"},
		"user":        {`id -u; id -g`, "0\n0"},
		"descriptors": {`ls /proc/self/fd | sort -n | xargs`, "0 1 2 3"}, // 3 is ls reading the directory
		"terminal":    {`tty >/dev/null || echo none; (: </dev/tty) 2>/dev/null || echo none`, "none\nnone"},
		// Those that C libraries use between threads (32 to 34) may be ignored: a library that wants one says so.
		"signals":       {`grep -E 'Sig(Blk|Ign):' /proc/self/status | cut -f2 | xargs | sed 's/ 0000000[0-3][08]0000000$/ 0000000000000000/'`, "0000000000000000 0000000000000000"},
		"processors":    {`[ $(nproc) = $(grep -c ^processor /proc/cpuinfo) ] && echo all`, "all"},
		"tree":          {`ls -d in out skills`, "in\nout\nskills"},
		"the guest":     {`command -v joy-guest`, "/usr/local/bin/joy-guest"},
		"localhost":     {`grep -c localhost /etc/hosts`, "2"},
		"home writable": {`echo x >/usr/local/x && echo y >/etc/y && echo z >/tmp/z && cat /usr/local/x /etc/y /tmp/z | xargs`, "x y z"},
		"devices":       {`head -c 3 /dev/zero | wc -c; head -c 16 /dev/urandom | wc -c; echo x >/dev/null; echo x >/dev/full || echo full`, "3\n16\nfull"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc[1], strings.TrimSpace(w.sh(t, tc[0])))
		})
	}

	t.Run("clock", func(t *testing.T) {
		before := time.Now()
		got := int64(atoi(t, w.sh(t, `date +%s`)))
		after := time.Now()
		require.GreaterOrEqual(t, got, before.Add(-2*time.Second).Unix())
		require.LessOrEqual(t, got, after.Add(2*time.Second).Unix())
	})
	t.Run("machine id", func(t *testing.T) {
		require.Regexp(t, `^[0-9a-f]{32}\n$`, w.sh(t, `cat /etc/machine-id`))
	})
	t.Run("the world is fresh", func(t *testing.T) {
		other := r.world(t, sandboxWorld)
		names := strings.Fields(other.sh(t, `ls -A /workspace /usr/local /tmp /workspace/out /workspace/in`))
		require.False(t, slices.Contains(names, "f") || slices.Contains(names, "x") || slices.Contains(names, "z"), "%v", names)
	})
}
