package build

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/plan"
)

// TestDeclaredNeeds: programs and variables that a bundle declares, in the form that most public bundles use.
func TestDeclaredNeeds(t *testing.T) {
	const front = "metadata: {openclaw: {requires: {bins: [git, pandoc, terraform], env: [NOTION_API_KEY]}}}\n"
	const shell = "```bash\ngit status --short\n```\n"
	find := func(spec, want string) (out []plan.Finding) {
		for _, f := range needs(t, spec, front, shell) {
			if f.Severity == "warning" {
				out = append(out, f)
			}
		}
		for _, f := range out {
			if strings.Contains(f.Message, want) {
				return []plan.Finding{f}
			}
		}
		return nil
	}
	for _, tc := range []struct{ spec, want, grant string }{
		{"image: tiny\n", "needs the program git", "image: base"},
		{"image: base\n", "needs the program pandoc", "image: full"},
		{"image: full\n", "needs the program terraform", "setup: {run:"},
		{"", "expects NOTION_API_KEY", "connections: {NAME: {command: […], env: {NOTION_API_KEY:"},
	} {
		found := find(tc.spec, tc.want)
		require.Len(t, found, 1, tc.want)
		require.Contains(t, found[0].Message, "; in joy.yaml: "+tc.grant)
	}
	require.Empty(t, find("connections: {n: {command: [x], env: {NOTION_API_KEY: 'secret:n'}}}\n", "expects NOTION"))
	require.Empty(t, find("image: base\n", "program git"))
}
