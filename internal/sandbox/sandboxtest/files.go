package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

func file(path string, mode uint32, content string) sandbox.File {
	return sandbox.File{Path: path, Mode: mode, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func (w *world) put(t *testing.T, dir string, files ...sandbox.File) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	require.NoError(t, w.Put(ctx, dir, files))
}

func testFiles(t *testing.T, r *room) {
	t.Run("as they were given", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.put(t, "in", file("input.json", 0o644, "{}"), file("a/b/run.sh", 0o755, "#!/bin/sh\necho ran\n"), file("empty", 0o600, ""),
			file("ünï code\n", 0o644, "x"), file("raw", 0o644, "\x00\xff\r\n"))
		require.Equal(t, "644 2\n755 19\n600 0\n", w.sh(t, `stat -c '%a %s' in/input.json in/a/b/run.sh in/empty`))
		require.Equal(t, "946684800\n946684800\n", w.sh(t, `stat -c %Y in/input.json in/a/b/run.sh`), "2000-01-01")
		require.Equal(t, "ran\n", w.sh(t, `in/a/b/run.sh`))
		require.Equal(t, "x", w.sh(t, "cat 'in/ünï code\n'"))
		require.Equal(t, "\x00\xff\r\n", w.sh(t, `cat in/raw`))
		require.Equal(t, "0 0\n", w.sh(t, `stat -c '%u %g' in/empty`))
	})

	t.Run("large and many", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
		files := []sandbox.File{{Path: "large", Mode: 0o644, Size: int64(len(large)), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(large)), nil
		}}}
		for i := range 300 {
			files = append(files, file(fmt.Sprintf("%d/%d", i%7, i), 0o644, fmt.Sprint(i)))
		}
		w.put(t, "in", files...)
		require.Equal(t, "16777216\n", w.sh(t, `wc -c <in/large`))
		require.Equal(t, "301\n", w.sh(t, `find in -type f | wc -l`))
	})

	t.Run("again replaces, also a link and a fifo", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `cd in; echo mine >/workspace/target; ln -s /workspace/target link; mkfifo fifo; echo old >old; ln old hard`)
		w.put(t, "in", file("link", 0o644, "new"), file("fifo", 0o644, "new"), file("old", 0o644, "new"))
		require.Equal(t, "newnewnew", w.sh(t, `cd in; cat link fifo old`))
		require.Equal(t, "mine\nold\n", w.sh(t, `cat target in/hard`))
	})

	w := r.world(t, sandboxWorld)
	for name, tc := range map[string]struct {
		before string
		file   sandbox.File
	}{
		"through a link to a directory": {`ln -s /etc in/d`, file("d/passwd", 0o644, "x")},
		"below a file":                  {`echo >in/d`, file("d/f", 0o644, "x")},
		"over a directory":              {`mkdir in/d`, file("d", 0o644, "x")},
		"out of the workspace":          {`true`, file("../../f", 0o644, "x")},
		"larger than announced":         {`true`, sandbox.File{Path: "f", Mode: 0o644, Size: 1, Open: file("", 0, "xy").Open}},
		"smaller than announced":        {`true`, sandbox.File{Path: "f", Mode: 0o644, Size: 3, Open: file("", 0, "xy").Open}},
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			w.sh(t, `rm -rf in; mkdir in; `+tc.before)
			ctx, cancel := context.WithTimeout(t.Context(), Patience)
			defer cancel()
			err := w.Put(ctx, "in", []sandbox.File{tc.file})
			require.Error(t, err)
			require.NotErrorIs(t, err, sandbox.ErrLost)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			w.sh(t, `true`)
		})
	}

	t.Run("a file that cannot be read", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		broken := errors.New("the disk is broken")
		for name, f := range map[string]func() (io.ReadCloser, error){
			"at all":   func() (io.ReadCloser, error) { return nil, broken },
			"half way": func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), Patience)
			err := w.Put(ctx, "in", []sandbox.File{file("first", 0o644, "x"), {Path: "f", Mode: 0o644, Size: 5, Open: f}})
			cancel()
			require.ErrorIs(t, err, broken, name)
			require.ErrorContains(t, err, "f", name)
		}
		w.sh(t, `true`)
	})

	t.Run("read-only directories", func(t *testing.T) { testReadOnly(t, r) })
}

func testReadOnly(t *testing.T, r *room) {
	w := r.world(t, sandbox.WorldSpec{ReadOnly: []string{"skills/count"}})
	w.put(t, "skills/count", file("SKILL.md", 0o644, "text"), file("scripts/run", 0o755, "#!/bin/sh\necho ran\n"))
	require.Equal(t, "ran\n", w.sh(t, `skills/count/scripts/run`))
	for name, script := range map[string]string{
		"write":        `echo x >skills/count/SKILL.md`,
		"append":       `echo x >>skills/count/scripts/run`,
		"make":         `touch skills/count/new`,
		"remove":       `rm skills/count/SKILL.md`,
		"mode":         `chmod 777 skills/count/SKILL.md`,
		"time":         `touch -d 2001-01-01 skills/count/SKILL.md`,
		"rename":       `mv skills/count/SKILL.md skills/count/x`,
		"hard link":    `ln skills/count/SKILL.md out/x`,
		"move":         `mv skills/count skills/other`,
		"move above":   `mv skills other`,
		"remove all":   `rm -rf skills`,
		"remount":      `mount -o remount,rw /workspace/skills/count`,
		"unmount":      `umount /workspace/skills/count`,
		"bind over":    `mount -o bind /tmp /workspace/skills/count`,
		"through proc": `echo x >/proc/self/cwd/skills/count/SKILL.md`,
	} {
		t.Run(name, func(t *testing.T) {
			w.fails(t, script)
			require.Equal(t, "text", w.sh(t, `cat /workspace/skills/count/SKILL.md`))
		})
	}
	w.sh(t, `echo x >skills/mine; mkdir skills/other`)
}
