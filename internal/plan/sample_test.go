package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/policy"
)

// sample is a plan with every kind of step: count → tell, and drop beside tell.
func sample(t testing.TB) *Plan {
	t.Helper()
	pin := func(path, mode string) File {
		return File{Path: path, Mode: mode, Size: 3, SHA256: strings.TrimPrefix(digest.Bytes([]byte(path)), "sha256:")}
	}
	skill := func(name string, files ...File) Skill {
		var tree []digest.File
		for _, f := range files {
			tree = append(tree, digest.File(f))
		}
		return Skill{Name: name, Path: "skills/" + name, Digest: digest.Tree(tree), Files: files}
	}
	definition := json.RawMessage(`{"description":"puts <b>","name":"upload"}`)
	limit := policy.Duration(60 * 1e9)
	why := []Evidence{{Rule: "JOY-ENTRY", File: "SKILL.md", Line: 4, Detail: "declares scripts/count.py"}}
	return &Plan{
		LockVersion: LockVersion, Rules: 1,
		Agent:    Agent{Name: "weekly", Workspace: "local", Description: "counts <words> & tells", Spec: pin("joy.yaml", "0644")},
		Inputs:   json.RawMessage(`{"type": "object"}`),
		Model:    &Model{Provider: "anthropic", Name: "m", Key: "secret:k", MaxTurns: 20, MaxTokens: 1000, MaxCost: 1.5},
		Triggers: []Trigger{{Schedule: "0 5 * * 1", Timezone: "UTC", Missed: "skip"}},
		Policy:   policy.Default(),
		Setup:    &Setup{Run: pin("scripts/setup.sh", "0755"), Argv: []string{"bash"}, Timeout: limit},
		Skills:   []Skill{skill("count", pin("SKILL.md", "0644"), pin("scripts/count.py", "0755")), skill("tell", pin("SKILL.md", "0644"))},
		Connections: map[string]Connection{"drive": {
			Transport: "http", URL: "https://mcp.example.com/drive",
			Tools: map[string]Tool{"upload": {Digest: digest.Bytes(definition), Definition: definition}},
		}},
		Image: Image{Profile: "base"},
		Allow: []Allow{{Rule: "JOY-CURL-SH", File: "skills/tell/SKILL.md", Reason: "pinned"}},
		Steps: []Step{
			{
				ID: "count", Kind: Script, Skill: "count", Entry: &Entry{Path: "scripts/count.py", Argv: []string{"python3"}},
				With: json.RawMessage(`{"text":"${{ inputs.text }}","n":10}`), Timeout: limit, Sandbox: Sandbox{Required: true, Evidence: why},
			},
			{
				ID: "tell", Kind: Prompt, Skill: "tell", Needs: []string{"count"}, With: json.RawMessage(`{"total":"${{ steps.count.output.total }}"}`),
				Tools: []Grant{{Action: "drive.upload", MaxCalls: 1}}, Timeout: limit,
			},
			{
				ID: "drop", Kind: Action, Action: "drive.upload", Needs: []string{"count"}, Approve: "granted",
				With: json.RawMessage(`{"file":"${{ steps.count.artifacts['a b.csv'] }}"}`), Timeout: limit,
			},
		},
	}
}

func encode(t testing.TB, p *Plan) []byte {
	t.Helper()
	data, err := Encode(p)
	require.NoError(t, err)
	return data
}
