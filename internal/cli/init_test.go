package cli

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/skill"
)

// TestScaffold holds the agent that people start from to what joy asks of theirs.
func TestScaffold(t *testing.T) {
	top, err := fs.Sub(scaffold, "scaffold")
	require.NoError(t, err)
	data, err := fs.ReadFile(top, "joy.yaml")
	require.NoError(t, err)
	spec, err := agent.Parse(data, "joy.yaml")
	require.NoError(t, err)
	require.Len(t, spec.Skills, 1)

	bundle, err := skill.Load(top, spec.Skills[0].Value, skill.Options{Strict: true})
	require.NoError(t, err)
	require.Empty(t, bundle.Findings)
	require.Empty(t, bundle.Violations)
	require.NotNil(t, bundle.Entry)
	require.Equal(t, "scripts/hello.sh", bundle.Entry.Path)
}
