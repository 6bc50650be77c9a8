package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// A run that succeeded without a seal ends with 7; one that failed ends as it failed, and the lack is said.
func TestOutcomeWithoutASeal(t *testing.T) {
	a, _, errs := testApp(t)
	s := &sealer{app: a}
	unsealed := fault.New(fault.Ledger, "the ledger is not sealed")
	require.NoError(t, s.outcome(nil, nil))
	require.Equal(t, 7, exitCode(s.outcome(nil, unsealed)))
	require.Empty(t, errs.String())
	require.Equal(t, 1, exitCode(s.outcome(exit(1), unsealed)))
	require.Contains(t, errs.String(), "the ledger is not sealed: joy ledger verify will call it incomplete")
	require.Equal(t, 1, exitCode(s.outcome(exit(1), nil)))
}
