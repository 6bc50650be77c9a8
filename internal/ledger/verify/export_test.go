package verify

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// AppendCanonical writes the canonical form of an entry that was read.
func AppendCanonical(t *testing.T, b []byte, e Entry) []byte {
	t.Helper()
	b, err := appendEntry(b, e)
	require.NoError(t, err)
	return b
}
