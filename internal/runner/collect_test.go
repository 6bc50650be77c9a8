package runner

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// leaves makes a step that leaves these files and succeeds.
func (r *rig) leaves(step string, files ...outFile) {
	r.on(step, func(s *scene) (sandbox.Result, error) {
		s.out = files
		s.print("{}")
		return sandbox.Result{}, nil
	})
}

// A name that cannot be kept is said, and the rest is kept all the same.
func TestNamesThatAreNotKept(t *testing.T) {
	for name, tc := range map[string]struct{ path, shown string }{
		"above":       {"../up.txt", "../up.txt"},
		"inside":      {"a/../../up.txt", "a/../../up.txt"},
		"absolute":    {"/etc/passwd", "/etc/passwd"},
		"empty":       {"", ""},
		"itself":      {".", "."},
		"double":      {"a//b", "a//b"},
		"not UTF-8":   {"caf\xe9.txt", "caf\uFFFD.txt"},
		"escape":      {"\x1b]0;pwned\x07", "\x1b]0;pwned\x07"},
		"newline":     {"a\nb", "a\nb"},
		"C1 control":  {"a\u009bb", "a\u009bb"},
		"a name more": {"good.txt", "good.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"))
			r.leaves("a", outFile{name: "good.txt", body: "good"}, outFile{name: tc.path, body: "odd"})
			out := r.finished(t)
			require.Equal(t, Succeeded, out.Status)
			require.Equal(t, "good.txt", r.one(t, "artifact.stored").String("name"))
			require.Len(t, out.Steps[0].Artifacts, 1)
			skip := r.one(t, "artifact.skipped")
			require.Equal(t, tc.shown, skip.String("name"))
			require.Equal(t, "name", skip.String("reason"))
		})
	}
}

// What the VM did not hand over is on record in its words, whatever they are, and is no failure of the step.
func TestSkipped(t *testing.T) {
	r := newRig(t, script("a"))
	r.vm.collect = func(context.Context, *scene) ([]sandbox.Skip, error) {
		return []sandbox.Skip{
			{Path: "a", Reason: "link", Size: 11},
			{Path: "p", Reason: "fifo"},
			{Path: "big", Reason: "too-large", Size: 1 << 40},
			{Path: "never", Reason: "total", Size: 1 << 60},
			{Path: "less", Reason: "count", Size: -1},
			{Path: strings.Repeat("x", 1<<20), Reason: "\xff" + strings.Repeat("y", 1<<20)},
		}, nil
	}
	require.Equal(t, Succeeded, r.finished(t).Status)
	list := r.all("artifact.skipped")
	require.Len(t, list, 6)
	require.Equal(t, map[string]any{"name": "a", "reason": "link", "bytes": int64(11)}, list[0].Data)
	require.EqualValues(t, 1<<40, list[2].Data["bytes"])
	for _, e := range list[3:5] {
		require.NotContains(t, e.Data, "bytes", "a size that nothing has")
	}
	require.Less(t, len(list[5].String("name")+list[5].String("reason")), 20<<10)
}

// A file that the VM cannot read to its end is the step's own doing: it is skipped, and the others are kept.
func TestUnreadableFile(t *testing.T) {
	r := newRig(t, script("a"))
	r.leaves("a", outFile{name: "1.txt", body: "first"}, outFile{name: "2.txt", body: "sec", err: errors.New("input/output error")},
		outFile{name: "3.txt", body: "third"})
	out := r.finished(t)
	require.Equal(t, Succeeded, out.Status)
	require.Equal(t, 2, r.count("artifact.stored"))
	skip := r.one(t, "artifact.skipped")
	require.Equal(t, "2.txt", skip.String("name"))
	require.Equal(t, "unreadable", skip.String("reason"))
}

// An artifact that the store cannot take ends the step, and leaves no bytes behind.
func TestStoreFails(t *testing.T) {
	r := newRig(t, script("a"))
	r.on("a", func(s *scene) (sandbox.Result, error) {
		s.keep("a.txt", strings.Repeat("text\n", 1<<20))
		s.print("{}")
		return sandbox.Result{}, r.Objects.Close()
	})
	out := r.run(t, t.Context())
	require.Equal(t, fault.Platform, out.Failure.Kind)
	require.ErrorContains(t, out.Failure.Err, "keeping artifacts")
	require.EqualValues(t, 1, r.vm.destroys.Load())
	require.Empty(t, globbed(t, r.LogDir, ".spool*"))
}

// A stored artifact says which command it is of, and its bytes are those of its digest.
func TestStored(t *testing.T) {
	r := newRig(t, script("a"))
	binary := string([]byte{0, 1, 2, 255})
	r.leaves("a", outFile{name: "sub/dir/é.bin", body: binary}, outFile{name: "empty"})
	out := r.finished(t)
	list := r.all("artifact.stored")
	require.Len(t, list, 2)
	require.Equal(t, r.one(t, "command.started").Seq, list[0].Data["command"])
	require.Empty(t, r.object(t, list[0].Data))
	require.Equal(t, binary, r.object(t, list[1].Data))
	require.Equal(t, Artifact{Name: "sub/dir/é.bin", Size: 4, SHA256: strings.TrimPrefix(sumOf(binary), "sha256:")}, out.Steps[0].Artifacts[1])
	require.Empty(t, globbed(t, r.LogDir, ".spool*"))
}

func globbed(t testing.TB, dir, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	return list
}
