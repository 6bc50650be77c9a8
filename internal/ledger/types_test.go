package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// The two lists are written twice on purpose.
func TestVerifierKnowsTheSameTypes(t *testing.T) {
	var names []string
	for _, typ := range types {
		names = append(names, string(typ))
	}
	require.ElementsMatch(t, verify.Types(), names)
}
