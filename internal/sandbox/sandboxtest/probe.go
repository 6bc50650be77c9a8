package sandboxtest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// probed opens a world with testdata/probe on its PATH: a small static program for what no shell can try.
func (r *room) probed(t *testing.T, spec sandbox.WorldSpec) *world {
	t.Helper()
	program, err := buildProbe()
	require.NoError(t, err)
	if spec.Env == nil {
		spec.Env = map[string]string{"PATH": "/workspace/bin:" + searchPath}
	}
	w := r.world(t, spec)
	require.NoError(t, w.Put(t.Context(), "bin", []sandbox.File{{
		Path: "probe", Mode: 0o755, Size: int64(len(program)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(program)), nil },
	}}))
	return w
}

var buildProbe = sync.OnceValues(func() ([]byte, error) {
	_, here, _, _ := runtime.Caller(0)
	dir, err := os.MkdirTemp("", "probe-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "probe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, "./testdata/probe")
	cmd.Dir = filepath.Dir(here)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, &buildError{err, said}
	}
	return os.ReadFile(out)
})

type buildError struct {
	err  error
	said []byte
}

func (e *buildError) Error() string {
	return "building the probe: " + e.err.Error() + ": " + string(e.said)
}
