package katatest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// BuildJoy gives a joy that has its VMs here: Kata's own where EnvKata is set, else containers, which no other joy accepts.
func BuildJoy(t testing.TB) string {
	t.Helper()
	program, err := linkJoy()
	require.NoError(t, err)
	joy := filepath.Join(t.TempDir(), "joy")
	require.NoError(t, os.WriteFile(joy, program, 0o755))
	return joy
}

// linkJoy takes what a machine at work needs a minute for.
var linkJoy = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "joy-door-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	_, door := Runtime()
	joy := filepath.Join(dir, "joy")
	out, err := exec.Command("go", "build", "-o", joy,
		"-ldflags", "-s -w -X github.com/joystream-ai/joy/internal/sandbox/kata.door="+door, "github.com/joystream-ai/joy/cmd/joy").CombinedOutput()
	if err != nil {
		return nil, errors.Join(err, errors.New(string(out)))
	}
	return os.ReadFile(joy)
})
