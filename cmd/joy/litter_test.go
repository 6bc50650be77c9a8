//go:build linux

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Bounds of a run that leaves as much as it can: its caps are 4 MiB, and what it holds beside them is joy's own.
const (
	litterDisk   = 16 << 20  // bytes below .joy
	litterMemory = 256 << 10 // KiB of joy at its largest
	litterLedger = 256 << 10 // bytes
)

// TestLitter runs a step that leaves in out/ whatever a collection could stumble over, one that is given what was kept,
// and one that fails.
func TestLitter(t *testing.T) {
	needVM(t)
	files := tree(t, "testdata/litter")
	files["skills/litter/bomb.zip"] = bomb(t)
	b := newBench(t, files)
	p := b.start("run")
	memory := int64(0)
	for e := range p.entries {
		if e.Type == "step.finished" && e.Step == "litter" {
			memory = highWater(t, p.cmd.Process.Pid)
		}
	}
	require.Equal(t, 1, p.exitCode(), "%s", &p.stderr)
	require.Less(t, memory, int64(litterMemory), "KiB of memory")
	b.verifies(0)
	entries := b.ledger()
	checkGone(t, b, entries)

	t.Run("the step's result stands", func(t *testing.T) {
		for step, status := range map[string]string{"litter": "succeeded", "reader": "succeeded", "fails": "failed"} {
			require.Equal(t, status, of(t, entries, "step.finished", step).Data["status"], "%s: %s", step, &p.stderr)
		}
		require.Equal(t, "agent", b.finish(entries).Data["failure_kind"])
		took := stamp(t, of(t, entries, "step.finished", "litter")).Sub(stamp(t, of(t, entries, "command.finished", "litter")))
		t.Logf("collected in %s; joy had %d MiB", took, memory>>10)
		require.Less(t, took, 2*time.Minute, "the time of a collection")
	})
	t.Run("what was kept", func(t *testing.T) { checkKept(t, entries) })
	t.Run("what was left out is said", func(t *testing.T) { checkLeftOut(t, entries) })
	t.Run("a failed step keeps what it left and said", func(t *testing.T) {
		require.Equal(t, "half.txt", of(t, entries, "artifact.stored", "fails").Data["name"])
		require.Equal(t, "link", of(t, entries, "artifact.skipped", "fails").Data["reason"])
		require.Contains(t, p.stderr.String(), "the last words")
	})
	t.Run("the store holds what its names say", func(t *testing.T) { checkObjects(t, b) })
	t.Run("fetched", func(t *testing.T) { checkFetched(t, b, entries) })
}

// bomb is a small archive of a large file.
func bomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("zeros")
	require.NoError(t, err)
	_, err = io.CopyN(f, zeros{}, 512<<20)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// highWater is the most memory that a process has had so far, in KiB.
func highWater(t *testing.T, pid int) int64 {
	t.Helper()
	size, err := peak(pid)
	require.NoError(t, err)
	return size
}

// peak is highWater of a process that may have ended.
func peak(pid int) (size int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(line, &size)
	return size, err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func stamp(t *testing.T, e entry) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, e.Time)
	require.NoError(t, err)
	return at
}

// names are those that entries of a type have for a step, with what key says.
func names(entries []entry, typ, key string) map[string]any {
	list := map[string]any{}
	for _, e := range only(entries, typ) {
		if name, ok := e.Data["name"].(string); ok && e.Step == "litter" {
			list[name] = e.Data[key]
		}
	}
	return list
}

func checkKept(t *testing.T, entries []entry) {
	t.Helper()
	stored := names(entries, "artifact.stored", "media")
	for _, name := range []string{
		"a-good.txt", "a-count.txt", "grows", "modes/none", "modes/closed/inside", "holes", "kinds/hard", "names/ ", "names/-rf",
		`names/C:\x`, "names/con.txt", "names/$(reboot)", `names/"`, "names/.git", "names/right\u202eleft",
	} {
		require.Contains(t, stored, name)
	}
	require.LessOrEqual(t, len(stored), 60)
	require.Equal(t, "run-token", names(entries, "artifact.quarantined", "secret")["a-token.bin"])
	require.Contains(t, names(entries, "artifact.quarantined", "reason")["a-bomb.zip"], "not looked into", "a bomb is not let off")
}

func checkLeftOut(t *testing.T, entries []entry) {
	t.Helper()
	skipped := names(entries, "artifact.skipped", "reason")
	for name, reason := range map[string]string{
		"links/absolute": "link", "links/relative": "link", "links/up": "link", "links/self": "link", "middle": "link",
		"kinds/fifo": "fifo", "kinds/device": "device", "kinds/socket": "socket", "sparse": "too-large",
		"names/two\nlines": "name", "names/\x1b]0;owned\a\x1b[2J": "name", "names/\ufffd": "name", "names/\u009b2J": "name",
		strings.TrimSuffix(strings.Repeat("d/", 65), "/"): "depth",
	} {
		require.Equal(t, reason, skipped[name], "%q", name)
	}
	kept, named, counted := 0, 0, 0.0
	for _, e := range entries {
		name, _ := e.Data["name"].(string)
		switch {
		case e.Type == "artifact.stored" && strings.HasPrefix(name, "z-many/"):
			kept++
		case e.Type == "artifact.skipped" && e.Data["reason"] == "count":
			if n, ok := e.Data["count"].(float64); ok {
				counted += n
			} else {
				named++
			}
		}
	}
	require.EqualValues(t, 100_000, float64(kept+named)+counted, "no file is forgotten")
	require.Equal(t, 20, named)
}

func checkObjects(t *testing.T, b *bench) {
	t.Helper()
	total := int64(0)
	require.NoError(t, filepath.WalkDir(filepath.Join(b.dir, ".joy"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		require.True(t, d.Type().IsRegular(), path)
		body, err := os.ReadFile(path)
		total += int64(len(body))
		if strings.Contains(path, "/objects/") {
			sum := sha256.Sum256(body)
			require.Equal(t, hex.EncodeToString(sum[:]), filepath.Base(path))
		}
		if filepath.Base(path) == "ledger.jsonl" {
			require.Less(t, len(body), litterLedger)
		}
		return err
	}))
	t.Logf("%d KiB below .joy", total>>10)
	require.Less(t, total, int64(litterDisk))
}

// checkFetched fetches all of it to a directory, where each file is one that can do nothing.
func checkFetched(t *testing.T, b *bench, entries []entry) {
	t.Helper()
	code, stdout, stderr := b.run("artifact", "list")
	require.Zero(t, code, "%s", stderr)
	require.Contains(t, stdout, `quarantined: it holds run-token`)
	require.Contains(t, stdout, `names/two\nlines`)
	require.NotContains(t, stdout, "\x1b")
	code, stdout, stderr = b.run("artifact", "get", "-o", "got")
	require.Zero(t, code, "%s", stderr)
	got := []string{}
	require.NoError(t, filepath.WalkDir(filepath.Join(b.dir, "got"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		require.Equal(t, fs.FileMode(0o600), info.Mode(), path)
		got = append(got, strings.TrimPrefix(path, b.dir+"/"))
		return err
	}))
	require.Len(t, got, len(only(entries, "artifact.stored")))
	require.Equal(t, len(got), strings.Count(stdout, "\n"))
	for _, name := range []string{"got/litter/names/%2Drf", "got/litter/names/C%3A%5Cx", "got/litter/names/%63on.txt", "got/litter/names/%2Egit", "got/fails/half.txt"} {
		require.True(t, slices.Contains(got, name), "%s of %q", name, got)
	}
}
