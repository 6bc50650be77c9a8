package sandboxtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// BuiltGuest is the variable that names a joy-guest, for a test program that runs where no toolchain does.
const BuiltGuest = "JOY_TEST_GUEST"

// Guest is joy-guest as its source is now, for Linux on this machine's processor. It is built once.
func Guest(t testing.TB) []byte {
	t.Helper()
	b, err := buildGuest()
	require.NoError(t, err)
	return b
}

var buildGuest = sync.OnceValues(func() ([]byte, error) {
	if built := os.Getenv(BuiltGuest); built != "" {
		return os.ReadFile(built)
	}
	dir, err := os.MkdirTemp("", "joy-guest-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "joy-guest")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=",
		"-o", out, "github.com/joystream-ai/joy/cmd/joy-guest")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH, "GOFLAGS=")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("building joy-guest: %w: %s", err, &said)
	}
	return os.ReadFile(out)
})
