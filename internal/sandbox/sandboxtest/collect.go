package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

var wide = policy.Artifacts{MaxFile: 1 << 20, MaxTotal: 10 << 20, MaxFiles: 200}

// collected is what a collection gave, in words: "path=content" and "path:reason", in the order they came.
type collected struct {
	files, skips []string
	found        []sandbox.Found
}

func (w *world) collect(t *testing.T, caps policy.Artifacts) collected {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	var c collected
	got, err := w.Collect(ctx, caps, func(f sandbox.Found, r io.Reader) error {
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		c.found = append(c.found, f)
		c.files = append(c.files, f.Path+"="+string(b))
		return nil
	})
	require.NoError(t, err)
	for _, s := range got.Skipped {
		skip := s.Path + ":" + s.Reason
		if s.Count > 0 {
			skip += fmt.Sprintf(" and %d more", s.Count)
		}
		c.skips = append(c.skips, skip)
	}
	return c
}

func testCollect(t *testing.T, r *room) {
	w := r.probed(t, sandboxWorld)
	for name, tc := range map[string]struct {
		script       string
		files, skips []string
	}{
		"nothing":                  {`true`, nil, nil},
		"in order of path":         {`cd out; mkdir a b; echo 1 >b/x; echo 2 >a/y; echo 3 >a.txt; : >z`, []string{"a/y=2\n", "a.txt=3\n", "b/x=1\n", "z="}, nil},
		"an absolute link":         {`ln -s /etc/passwd out/a`, nil, []string{"a:link"}},
		"a relative link":          {`ln -s ../in/input.json out/a; echo x >in/input.json`, nil, []string{"a:link"}},
		"a link to a directory":    {`ln -s ../.. out/d; ln -s /etc out/e`, nil, []string{"d:link", "e:link"}},
		"a link to itself":         {`ln -s a out/a`, nil, []string{"a:link"}},
		"a link within out":        {`echo x >out/f; ln -s f out/g`, []string{"f=x\n"}, []string{"g:link"}},
		"a hard link":              {`echo x >out/f; ln out/f out/g`, []string{"f=x\n", "g=x\n"}, nil},
		"fifo and socket":          {`mkfifo out/p; probe socket out/s`, nil, []string{"p:fifo", "s:socket"}},
		"a device without rights":  {`mknod out/c c 0 0`, nil, []string{"c:device"}},
		"out is a link":            {`rmdir out; ln -s /etc out`, nil, []string{":link"}},
		"out is a file":            {`rmdir out; echo x >out`, nil, []string{":not-a-directory"}},
		"out is a fifo":            {`rmdir out; mkfifo out`, nil, []string{":fifo"}},
		"out is gone":              {`rmdir out`, nil, nil},
		"without permissions":      {`echo x >out/f; mkdir out/d; echo y >out/d/g; chmod 0 out/f out/d out`, []string{"d/g=y\n", "f=x\n"}, nil},
		"a sparse file of 10 GiB":  {`truncate -s 10G out/s; echo x >out/t`, []string{"t=x\n"}, []string{"s:too-large"}},
		"names of any bytes":       {`cd out; for n in "$(printf 'a\nb')" "$(printf '\033[2J')" "$(printf '\377\376')" ' ' '-rf' '"'; do echo x >"./$n"; done`, []string{"\x1b[2J=x\n", " =x\n", "\"=x\n", "-rf=x\n", "a\nb=x\n", "\xff\xfe=x\n"}, nil},
		"dots":                     {`cd out; echo x >...; echo y >.hidden; mkdir .d; echo z >.d/..e`, []string{"...=x\n", ".d/..e=z\n", ".hidden=y\n"}, nil},
		"a file that is all holes": {`truncate -s 3 out/h`, []string{"h=\x00\x00\x00"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w.sh(t, `chmod 755 out 2>/dev/null; rm -rf out; mkdir out; `+tc.script)
			got := w.collect(t, wide)
			require.Equal(t, tc.files, got.files)
			require.Equal(t, tc.skips, got.skips)
		})
	}

	t.Run("size and time", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `printf abc >out/f; touch -d '2020-02-02 02:02:02' out/f`)
		got := w.collect(t, wide)
		require.Equal(t, []sandbox.Found{{Path: "f", Size: 3, ModTime: time.Date(2020, 2, 2, 2, 2, 2, 0, time.UTC)}}, got.found)
	})

	t.Run("caps", func(t *testing.T) { testCaps(t, r) })
	t.Run("deep directories", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `cd out; i=0; while [ $i -lt 70 ]; do echo $i >f; mkdir d && cd d; i=$((i+1)); done`)
		got := w.collect(t, wide)
		require.Len(t, got.files, 65)
		require.Equal(t, []string{strings.TrimSuffix(strings.Repeat("d/", 65), "/") + ":depth"}, got.skips)
	})
	t.Run("what still runs is ended first", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		up := &watch{want: "up\n", found: make(chan struct{})}
		ended := make(chan outcome, 1)
		go func() {
			res, err := w.Run(context.Background(), shell(`(while :; do echo x >>out/log; done) & setsid sh -c 'while :; do date >out/now; done' &
				until [ -s out/log ] && [ -s out/now ]; do sleep 0.1; done; echo up; wait`), up, up)
			ended <- outcome{Result: res, stderr: errText(err)}
		}()
		<-up.found
		w.collect(t, policy.Artifacts{MaxFile: 1 << 30, MaxTotal: 1 << 30, MaxFiles: 10})
		out := <-ended
		require.Empty(t, out.stderr)
		require.Equal(t, "SIGKILL", out.Signal)
		require.Equal(t, w.sh(t, `wc -c <out/log`), w.sh(t, `sleep 0.5; wc -c <out/log`))
	})
	t.Run("twice is the same", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `echo x >out/f`)
		require.Equal(t, w.collect(t, wide), w.collect(t, wide))
	})
	t.Run("a put that fails", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `cd out; head -c 900000 /dev/zero >a; echo >b`)
		full := errors.New("the store is full")
		calls := 0
		_, err := w.Collect(t.Context(), wide, func(sandbox.Found, io.Reader) error { calls++; return full })
		require.ErrorIs(t, err, full)
		require.Equal(t, 1, calls)
		_, err = w.Collect(t.Context(), wide, func(sandbox.Found, io.Reader) error { return nil })
		require.ErrorContains(t, err, "not read to its end")
		require.Len(t, w.collect(t, wide).files, 2)
	})
	t.Run("cancelled", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `head -c 900000 /dev/zero >out/a`)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := w.Collect(ctx, wide, func(_ sandbox.Found, r io.Reader) error {
			cancel()
			_, err := io.Copy(io.Discard, r)
			return err
		})
		require.ErrorIs(t, err, context.Canceled)
		w.sh(t, `true`)
	})
}

func testCaps(t *testing.T, r *room) {
	t.Run("count", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `cd out; touch $(seq 3000)`)
		got := w.collect(t, policy.Artifacts{MaxFile: 100, MaxTotal: 1 << 20, MaxFiles: 200})
		require.Len(t, got.files, 200)
		require.Len(t, got.skips, 21)
		require.Equal(t, ":count and 2780 more", got.skips[20])
		require.Contains(t, got.skips[0], ":count")
	})
	t.Run("total", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `cd out; for i in 1 2 3; do head -c 400 /dev/zero >$i; done; echo >4`)
		got := w.collect(t, policy.Artifacts{MaxFile: 500, MaxTotal: 1000, MaxFiles: 10})
		require.Len(t, got.files, 3)
		require.Equal(t, []string{"3:total"}, got.skips)
	})
	t.Run("to the byte", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `cd out; head -c 100 /dev/zero >a; head -c 101 /dev/zero >b; head -c 50 /dev/zero >c`)
		got := w.collect(t, policy.Artifacts{MaxFile: 100, MaxTotal: 150, MaxFiles: 2})
		require.Len(t, got.files, 2)
		require.Equal(t, []string{"b:too-large"}, got.skips)
	})
}
