package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/queue"
)

func TestEveryTroubleHasAFix(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	m := Machine{CacheDir: t.TempDir(), StateDir: t.TempDir(), ScratchDir: filepath.Join(t.TempDir(), "gone"), LookupEnv: os.LookupEnv, Accel: "tcg"}
	checks := Run(t.Context(), m)
	require.True(t, Failed(checks))
	checks = append(checks, Boot(t.Context(), m, &queue.Queue{Dir: filepath.Join(t.TempDir(), "vms"), Scratch: m.ScratchDir})...)
	require.Equal(t, "boot", checks[len(checks)-1].ID)
	for _, c := range checks {
		require.NotEmpty(t, c.Detail, c.ID)
		require.Equal(t, c.Status == OK, c.Fix == "", c.ID)
	}
}

func TestQEMU(t *testing.T) {
	program, _ := emulator()
	for name, c := range map[string]struct {
		script string
		want   Status
	}{
		"another program":    {"echo hello", Fail},
		"does not start":     {"exit 1", Fail},
		"does not come back": {"exec sleep 60", Fail},
		"says its version":   {"echo QEMU emulator version 9.1", OK},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := "#!/bin/sh\nPATH=/bin:/usr/bin\n" + c.script + "\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, program), []byte(script), 0o700))
			t.Setenv("PATH", dir)
			require.Equal(t, c.want, qemu(t.Context()).Status)
		})
	}
}

func TestImages(t *testing.T) {
	cache := t.TempDir()
	require.Equal(t, Fail, images(cache)[0].Status)

	damaged := filepath.Join(cache, "images", strings.Repeat("1", 64))
	require.NoError(t, os.MkdirAll(damaged, 0o755))
	checks := images(cache)
	require.Len(t, checks, 2)
	require.Equal(t, Warn, checks[0].Status)
	require.Contains(t, checks[0].Fix, "joy image rm sha256:1")
	require.Equal(t, Fail, checks[1].Status)
}

func TestSnapshots(t *testing.T) {
	cache := t.TempDir()
	require.Contains(t, snapshots(cache).Detail, "starts cold")
	require.NoError(t, os.Mkdir(filepath.Join(cache, "snapshots"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(cache, "snapshots", "a.ram"), nil, 0o600))
	require.Contains(t, snapshots(cache).Detail, "starts cold", "it is none")
	name := strings.Repeat("1", 16) + "." + strings.Repeat("2", 32) + "." + strings.Repeat("3", 64) + ".ram"
	require.NoError(t, os.WriteFile(filepath.Join(cache, "snapshots", name), make([]byte, 2<<20), 0o600))
	require.Contains(t, snapshots(cache).Detail, "1 in the cache, 2 MiB; last used 20")
}

func TestSpace(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, space("x", dir).Status, space("x", filepath.Join(dir, "not", "made", "yet")).Status)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Equal(t, Fail, space("x", filepath.Join(file, "below")).Status)
}
