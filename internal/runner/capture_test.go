package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

func sumOf(b string) string {
	sum := sha256.Sum256([]byte(b))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Both streams of a flood are counted and digested to the last byte.
func TestFloodOfOutput(t *testing.T) {
	r := newRig(t, script("a"))
	stdout := strings.Repeat("x", 5_000_000) + "\n{}\n"
	stderr := strings.Repeat("y", 200_000)
	r.on("a", func(s *scene) (sandbox.Result, error) {
		for b := []byte(stdout); len(b) > 0; b = b[min(len(b), 32<<10):] {
			_, err := s.stdout.Write(b[:min(len(b), 32<<10)])
			require.NoError(t, err)
		}
		_, err := s.stderr.Write([]byte(stderr))
		require.NoError(t, err)
		return sandbox.Result{}, nil
	})
	out := r.finished(t)
	require.Equal(t, Succeeded, out.Status)
	e := r.one(t, "command.finished")
	require.Equal(t, map[string]any{"bytes": int64(len(stdout)), "sha256": sumOf(stdout)}, e.Data["stdout"])
	require.Equal(t, map[string]any{"bytes": int64(len(stderr)), "sha256": sumOf(stderr)}, e.Data["stderr"])
	for name, want := range map[string]string{"a.1.stdout": stdout, "a.1.stderr": stderr} {
		kept, err := os.ReadFile(filepath.Join(r.LogDir, name))
		require.NoError(t, err)
		require.True(t, string(kept) == want, name)
		info, err := os.Stat(filepath.Join(r.LogDir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}

// Beyond what is kept on disk, output is still counted and digested, and the record says that it was cut.
func TestOutputBeyondWhatIsKept(t *testing.T) {
	r := newRig(t, script("a"))
	line := strings.Repeat("z", 1<<20-1) + "\n"
	sum, total := sha256.New(), 0
	r.on("a", func(s *scene) (sandbox.Result, error) {
		for range 70 {
			s.print(line)
			sum.Write([]byte(line))
			total += len(line)
		}
		s.print("{}")
		sum.Write([]byte("{}"))
		return sandbox.Result{}, nil
	})
	require.Equal(t, Succeeded, r.finished(t).Status)
	require.Equal(t, map[string]any{
		"bytes": int64(total + 2), "sha256": "sha256:" + hex.EncodeToString(sum.Sum(nil)), "kept": int64(maxKept), "truncated": true,
	}, r.one(t, "command.finished").Data["stdout"])
	info, err := os.Stat(filepath.Join(r.LogDir, "a.1.stdout"))
	require.NoError(t, err)
	require.EqualValues(t, maxKept, info.Size())
}

// Memory stays within its bounds whatever is written and however it is cut.
func TestCaptureIsBounded(t *testing.T) {
	c := captured(t)
	for _, size := range []int{1, maxTail - 1, maxTail, maxTail + 1, 3 * maxTail, 17, maxHead, 5} {
		_, err := after{c.stdout}.Write(bytes.Repeat([]byte{byte(size)}, size))
		require.NoError(t, err)
		require.LessOrEqual(t, len(c.stdout.tail), 2*maxTail)
		require.LessOrEqual(t, len(c.stdout.head), maxHead)
		require.True(t, bytes.HasSuffix(c.stdout.tail, bytes.Repeat([]byte{byte(size)}, min(size, maxTail))))
	}
	require.Len(t, c.stdout.last(), 4096)
}

func TestEncoding(t *testing.T) {
	for name, tc := range map[string]struct {
		parts   []string
		invalid bool
	}{
		"a character in two":    {[]string{"caf\303", "\251\n{}"}, false},
		"a character in four":   {[]string{"\xf0", "\x9f", "\x98", "\x80\n{}"}, false},
		"a lone lead":           {[]string{"caf\303"}, true},
		"a lone lead, then end": {[]string{"\303", "", "\n{}"}, true},
		"no UTF-8 at all":       {[]string{"\377\376\n{}"}, true},
		"a surrogate":           {[]string{"\xed\xa0\x80\n{}"}, true},
		"a bad second half":     {[]string{"\xf0\x9f", "{}"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"))
			r.on("a", func(s *scene) (sandbox.Result, error) {
				for _, p := range tc.parts {
					s.print(p)
				}
				return sandbox.Result{}, nil
			})
			r.finished(t)
			d, _ := r.one(t, "command.finished").Data["stdout"].(map[string]any)
			require.Equal(t, tc.invalid, d["encoding"] == "invalid")
			require.Equal(t, sumOf(strings.Join(tc.parts, "")), d["sha256"])
		})
	}
}

// A command whose output cannot be kept is joy's failure, and it is ended by its writer's error.
func TestOutputThatCannotBeWritten(t *testing.T) {
	r := newRig(t, script("a"))
	r.on("a", func(s *scene) (sandbox.Result, error) {
		c, _ := s.stdout.(*capture)
		require.NoError(t, c.file.Close())
		_, err := s.stdout.Write([]byte("{}"))
		return sandbox.Result{}, err
	})
	out := r.finished(t)
	require.Equal(t, "platform", string(out.Failure.Kind))
	require.ErrorIs(t, out.Failure.Err, errKeep)
	require.ErrorIs(t, out.Failure.Err, os.ErrClosed)
	require.NotErrorIs(t, out.Failure.Err, sandbox.ErrLost)
}

// Output of an earlier attempt is not written over, and a command whose output has no place is not begun.
func TestLogsAreNeverReplaced(t *testing.T) {
	r := newRig(t, script("a"))
	require.NoError(t, os.WriteFile(filepath.Join(r.LogDir, "a.1.stderr"), []byte("old"), 0o600))
	out := r.finished(t)
	require.ErrorIs(t, out.Failure.Err, os.ErrExist)
	require.Zero(t, r.count("command.started"))
	require.Nil(t, r.vm.scene("a").argv)
}
