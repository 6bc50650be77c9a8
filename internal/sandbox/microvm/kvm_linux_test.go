package microvm

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A device that does not open has a command that helps, where one does.
func TestOpenFix(t *testing.T) {
	for err, want := range map[error]string{
		unix.ENOENT:                           "modprobe kvm_intel",
		unix.EACCES:                           "usermod -aG kvm",
		fmt.Errorf("opening: %w", unix.EPERM): "usermod -aG kvm",
		errors.Join(unix.ENOENT, errors.ErrUnsupported): "modprobe",
	} {
		require.Contains(t, openFix(err), want, "%v", err)
	}
	require.Empty(t, openFix(unix.EBUSY))
}
