//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// An image that is not the one of the run is named before anything is run on it: one that has other bytes by now, one that is not
// here, and one that the run on record was not on, as when its VM was another provider's.
func TestReplayNamesAChangedImage(t *testing.T) {
	needVM(t)
	b, _ := modelProject(t, "anthropic", modeltest.Script(doing("true"), modeltest.Reply{Text: `{"rows": 3}`}), "")
	code, _, stderr := b.run("run", "--jsonl", "--input", "data=@data.csv")
	require.Zero(t, code, stderr)
	code, stdout, stderr := b.run("ledger", "export", "--format", "replay", "-o", "run.replay")
	require.Zero(t, code, "%s%s", stdout, stderr)
	file, err := os.ReadFile(filepath.Join(b.dir, "run.replay"))
	require.NoError(t, err)
	pin, ok := only(b.ledger(), "sandbox.created")[0].Data["image"].(string)
	require.True(t, ok)
	image := filepath.Join("joy", "images", strings.TrimPrefix(pin, "sha256:"))

	for name, c := range map[string]struct {
		file  []byte
		alter func(t *testing.T, cache string)
		code  int
		says  []string
	}{
		"other bytes": {file, func(t *testing.T, cache string) {
			require.NoError(t, os.CopyFS(filepath.Join(cache, image), os.DirFS(filepath.Join(testerCache(), image))))
			f, err := os.OpenFile(filepath.Join(cache, image, "root.squashfs"), os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteAt([]byte("changed"), 4096)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}, 3, []string{"image " + pin + " is damaged", "root.squashfs is sha256:"}},
		"not here": {file, func(*testing.T, string) {}, 6, []string{"the image that the lock pins, " + pin + ", is not on this machine"}},
		"another": {onOtherImage(t, file), func(t *testing.T, cache string) {
			require.NoError(t, os.MkdirAll(filepath.Join(cache, "joy"), 0o755))
			require.NoError(t, os.Symlink(filepath.Join(testerCache(), "joy", "images"), filepath.Join(cache, "joy", "images")))
		}, 3, []string{"the run was on image sha256:" + strings.Repeat("ab", 6), "its plan pins " + pin[:19]}},
	} {
		t.Run(name, func(t *testing.T) {
			there := elsewhere(t, map[string]string{"run.replay": string(c.file)})
			cache := filepath.Join(there.top, "cache")
			c.alter(t, cache)
			there.env = append(there.env, "XDG_CACHE_HOME="+cache)
			code, stdout, stderr := there.run("replay", "run.replay")
			require.Equal(t, c.code, code, "%s%s", stdout, stderr)
			for _, says := range c.says {
				require.Contains(t, stderr, says)
			}
			runs, err := filepath.Glob(filepath.Join(there.dir, ".joy", "runs", "*"))
			require.NoError(t, err)
			require.Empty(t, runs, "nothing was run")
		})
	}
}

// onOtherImage is the record as it would be if the VM had been made from another image.
func onOtherImage(t *testing.T, file []byte) []byte {
	return retold(t, file, func(e verify.Entry, _ func([]byte) string) {
		if e.Type == "sandbox.created" {
			e.Data["image"] = "sha256:" + strings.Repeat("ab", 32)
		}
	})
}
