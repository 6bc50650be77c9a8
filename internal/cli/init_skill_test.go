package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/skill"
)

func bundleOf(schema, description string) *skill.Bundle {
	return &skill.Bundle{Name: "a", SkillFile: "SKILL.md", Description: description, InputSchema: json.RawMessage(schema), Entry: &skill.Entry{Path: "x.sh", Argv: []string{"bash"}}}
}

func TestYAMLOfSchemasThatMakeNone(t *testing.T) {
	for name, schema := range map[string]string{
		"an apostrophe and a quote": `{"properties":{"it's \"so\"":{}}}`,
		"a name in the way":         `{"properties":{"a]}}":{"type":"string"},"x']\"":{}}}`,
		"too deep":                  `{"properties":{"a":` + nested(40) + `}}`,
		"no object":                 `[1]`,
	} {
		b := bundleOf(schema, "d")
		_, _, err := agentYAML("a", b, b.InputSchema)
		require.Error(t, err, name)
	}
}

func nested(n int) string {
	if n == 0 {
		return "{}"
	}
	return `{"items":` + nested(n-1) + `}`
}

// TestYAMLKeepsEveryText: what a bundle's author wrote reads back as it was, whatever YAML would make of it.
func TestYAMLKeepsEveryText(t *testing.T) {
	for _, text := range []string{
		"plain", "a: b # c", "- *x &y !z", "'single' \"double\"", "${{ steps.x.output }}", "yes", "1e3", "tab\tand\nline", "\u2028\u2029\u0085", "漢字 🙂", "\\u0041 \\n", "<<", "%YAML",
	} {
		raw, err := json.Marshal(map[string]any{"type": "object", "required": []string{"n"}, "properties": map[string]any{"n": map[string]any{"type": "string", "description": text}}})
		require.NoError(t, err)
		b := bundleOf(string(raw), text)
		data, keys, err := agentYAML("a", b, b.InputSchema)
		require.NoError(t, err, text)
		require.Equal(t, []string{"n"}, keys)
		spec, err := agent.Parse(data, "joy.yaml")
		require.NoError(t, err)
		require.Equal(t, text, spec.Description)
		require.JSONEq(t, string(raw), string(spec.Inputs.JSON))
		require.JSONEq(t, `{"n":"${{ inputs.n }}"}`, string(spec.Steps[0].With.JSON))
		require.Equal(t, "tiny", spec.Image.Value)
	}
}

// TestAgentAroundABundleBuilds, with names of inputs that need quotes.
func TestAgentAroundABundleBuilds(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "My Skill")
	require.NoError(t, os.MkdirAll(from, 0o700))
	text := "---\nname: My Skill\ndescription: d\ninput_schema: {type: object, properties: {'odd key': {type: string}, a-b: {type: integer}, '1': {}}}\n---\nAnswer.\n"
	require.NoError(t, os.WriteFile(filepath.Join(from, "SKILL.md"), []byte(text), 0o600))
	a := newApp(Env{Dir: dir, LookupEnv: func(string) (string, bool) { return "", false }})
	files, next, err := a.agentAround("My Skill")
	require.NoError(t, err)
	require.Equal(t, "joy build && joy run", next)
	to := filepath.Join(dir, "agent")
	for _, f := range files {
		path := filepath.Join(to, filepath.FromSlash(f.path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, f.data, f.mode))
	}
	res, err := build.Build(context.Background(), build.Options{Dir: to})
	require.NoError(t, err)
	require.Equal(t, "my-skill", res.Plan.Agent.Name)
	require.Equal(t, "My Skill", res.Plan.Steps[0].Skill)
	require.Contains(t, string(res.Plan.Steps[0].With), `"${{ inputs['odd key'] }}"`)
}
