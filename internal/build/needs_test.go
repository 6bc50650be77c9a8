package build

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/plan"
)

// needs are the findings of rule JOY-NEED of a project with one bundle, s.
func needs(t *testing.T, spec, front, body string) (out []plan.Finding) {
	t.Helper()
	fsys := project("-- joy.yaml --\nversion: 1\nname: a\nskills: [s]\n"+spec, "-- s/SKILL.md --\n---\nname: s\ndescription: d\n"+front+"---\n"+body+
		"\n-- s/run.py --\nprint('{}')\n-- s/run.sh --\necho '{}'\n-- scripts/setup.sh --\ntrue\n")
	for _, f := range build(t, fsys).Findings {
		if f.Rule == RuleNeed {
			out = append(out, f)
		}
	}
	return out
}

const (
	asksToPost = "allowed_tools: [slack.post]\n"
	entryPy    = "metadata: {joy.entry: run.py}\n"
	entrySh    = "metadata: {joy.entry: run.sh}\n"
)

func TestNeedsWithoutAGrant(t *testing.T) {
	for name, tc := range map[string]struct{ spec, front, body, want, grant string }{
		"action of no connection":   {"", asksToPost, "", "no connection slack is declared", "connections: {slack: …} and in the step tools: [{action: slack.post}]"},
		"program of a larger image": {"image: tiny\n", entryPy, "", "needs the program python3, which the image tiny has not", "image: base"},
		"tool of a server":          {"", "", "Call mcp__linear__create_issue with the title, then mcp__linear__list_issues.\n", "MCP server linear", "connections: {linear: …}"},
	} {
		found := needs(t, tc.spec, tc.front, tc.body)
		i := -1
		for j, f := range found {
			if strings.Contains(f.Message, tc.want) {
				i = j
			}
		}
		require.GreaterOrEqual(t, i, 0, "%s: %v", name, found)
		require.Contains(t, found[i].Message, "; in joy.yaml: "+tc.grant, name)
		require.Equal(t, "warning", found[i].Severity)
		require.Equal(t, "s/SKILL.md", found[i].File)
	}
}

func TestNeedsThatAreMet(t *testing.T) {
	for name, tc := range map[string]struct{ spec, front, body string }{
		"nothing":                    {"", "", "Answer kindly.\n"},
		"shell in the smallest":      {"image: tiny\n", entrySh, ""},
		"python in base":             {"image: base\n", entryPy, ""},
		"set up":                     {"image: tiny\nsetup: {run: scripts/setup.sh}\n", entryPy, ""},
		"an image of the author's":   {"image: 'sha256:" + strings.Repeat("a", 64) + "'\n", entryPy, ""},
		"programs without a sandbox": {"image: tiny\nsteps: [{id: s, skill: s, sandbox: {required: false, reason: r}}]\n", "metadata: {requires: {bins: [git]}}\n", ""},
	} {
		require.Empty(t, needs(t, tc.spec, tc.front, tc.body), name)
	}
}

// TestARequestIsNoGrant: what a bundle asks for changes a finding and nothing else.
func TestARequestIsNoGrant(t *testing.T) {
	spec := "-- joy.yaml --\nversion: 1\nname: a\nskills: [s]\n"
	res := build(t, project(spec, "-- s/SKILL.md --\n---\nname: s\ndescription: d\nskill_kind: instruction\n"+asksToPost+"---\nPosts.\n"))
	require.Empty(t, res.Plan.Steps[0].Tools)
	require.Empty(t, res.Plan.Steps[0].Egress)
	require.Empty(t, res.Plan.Connections)
}

func TestProgramsOfProfiles(t *testing.T) {
	for _, tc := range []struct {
		profile, name, grant string
		has                  bool
	}{
		{"tiny", "sh", "", true},
		{"tiny", "bash", "", true},
		{"tiny", "jq", "image: base", false},
		{"base", "jq", "", true},
		{"base", "s", "setup:", false}, // no part of a name is one
		{"base", "node", "image: full", false},
		{"full", "node", "", true},
		{"full", "python3", "", true},
		{"", "anything", "", true},
	} {
		has, grant := inImage(tc.profile, tc.name)
		require.Equal(t, tc.has, has, tc)
		require.True(t, strings.HasPrefix(grant, tc.grant) && (grant == "") == has, tc)
	}
}
