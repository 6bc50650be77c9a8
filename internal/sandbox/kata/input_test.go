//go:build linux

package kata

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// What a joy that is killed leaves is a guest whose input has ended: it ends, and the VM with it.
func TestInputEnds(t *testing.T) {
	r := newRig(t)
	b := r.create(t, r.spec())
	_, ended := under(t, b)
	require.NoError(t, b.wire.in.Close())
	require.ErrorIs(t, await(t, "the command", ended), sandbox.ErrLost)
}
