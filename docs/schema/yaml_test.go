// Package schema_test holds the published JSON Schemas to what joy reads and writes.
package schema_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/policy"
)

func document(t testing.TB, file string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	object, ok := doc.(map[string]any)
	require.True(t, ok)
	return object
}

func compile(t testing.TB, file string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("joy:///s", document(t, file)))
	s, err := c.Compile("joy:///s")
	require.NoError(t, err)
	return s
}

// validate is what the schema has against a YAML text.
func validate(t testing.TB, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal(text, &v))
	return s.Validate(v)
}

const yamlSchema = "joy.yaml.schema.json"

// TestBadYAML: what joy refuses for its form alone an editor shows, too.
func TestBadYAML(t *testing.T) {
	const minimal = "version: 1\nname: a\nskills: [skills/a]\n"
	s := compile(t, yamlSchema)
	require.NoError(t, validate(t, s, []byte(minimal)))
	for _, add := range []string{
		"polcy: {}", "policy: {memroy: 1GiB}", "policy: {memory: 2GB}", "policy: {memory: -1}", "policy: {cpus: 65}", "policy: {cpus: 0}",
		"policy: {cpus: two}", "policy: {isolation: none}", "policy: {providers: []}", "policy: {providers: [docker]}", "policy: {providers: [e2b, e2b]}",
		"policy: {approvals: never}", "policy: {start: warm}", "policy: {timeout: 15}", "policy: {timeout: 15 minutes}", "policy: {egress: ['https://a.com']}",
		"policy: {egress: a.com}", "policy: {artifacts: {max_files: 0}}", "policy: {artifacts: {max: 1}}", "description: 1", "workspace: A", "inputs: []",
		"triggers: [{schedule: '* * *', timezone: UTC}]", "triggers: [{schedule: '0 5 * * 1'}]", "triggers: [{schedule: '0 5 * * 1', timezone: UTC, missed: all}]",
		"model: {provider: a}", "model: {provider: a, name: b, key: sk-123}", "model: {provider: a, name: b, max_turns: 1001}", "model: {provider: a, name: b, max_cost: 0}",
		"model: {provider: a, name: b, base_url: 'ftp://a'}", "model: {provider: a, name: b, base_url: 'https://u:p@a'}", "model: {provider: a, name: b, base_url: 'https://a?x=1'}",
		"connections: {a: {}}", "connections: {A: {url: 'https://a'}}", "connections: {a: {url: 'https://a', command: [x]}}", "connections: {a: {command: []}}",
		"connections: {a: {command: x}}", "connections: {a: {command: [x], bearer: 'secret:b'}}", "connections: {a: {url: 'https://a', env: {A: 'secret:b'}}}",
		"connections: {a: {command: [x], env: {A: value}}}", "connections: {a: {command: [x], env: {A-B: 'secret:b'}}}", "connections: {a: {url: 'https://a', unconfined: r}}",
		"setup: {}", "setup: {run: /bin/sh}", "setup: {run: ../x}", "setup: {run: x, timeout: 5}", "steps: []", "steps: {}", "steps: [{skill: a}]", "steps: [{id: a}]",
		"steps: [{id: A, skill: a}]", "steps: [{id: setup, skill: a}]", "steps: [{id: a, skill: a, action: b.c}]", "steps: [{id: a, action: b}]",
		"steps: [{id: a, action: b.c, egress: []}]", "steps: [{id: a, action: b.c, tools: []}]", "steps: [{id: a, action: b.c, sandbox: {required: true, reason: r}}]",
		"steps: [{id: a, skill: a, sandbox: {required: true}}]", "steps: [{id: a, skill: a, sandbox: true}]", "steps: [{id: a, skill: a, with: []}]",
		"steps: [{id: a, skill: a, needs: b}]", "steps: [{id: a, skill: a, approve: never}]", "steps: [{id: a, skill: a, tools: [{action: b.c, max_calls: 0}]}]",
		"steps: [{id: a, skill: a, tools: [{with: {}}]}]", "image: alpine", "image: 'sha256:abc'", "e2b_template: ' x'", "allow: [{rule: JOY-X, file: f}]",
		"allow: [{rule: X, file: f, reason: r}]", "fixtures: {a: f}", "fixtures: {a.b: /f}", "fixtures: []",
	} {
		text := []byte(minimal + add + "\n")
		require.Error(t, validate(t, s, text), add)
		_, err := agent.Parse(text, "joy.yaml")
		require.Error(t, err, "joy takes it: %s", add)
	}
	for _, whole := range []string{"{}", "[]", "name: a\nskills: [a]", "version: 2\nname: a\nskills: [a]", "version: 1\nname: a", "version: 1\nskills: [a]", "version: '1'\nname: a\nskills: [a]", "version: 1\nname: a\nskills: []"} {
		require.Error(t, validate(t, s, []byte(whole)), whole)
	}
}

func TestGoodYAML(t *testing.T) {
	s := compile(t, yamlSchema)
	for _, file := range []string{"../../internal/agent/testdata/whole.yaml", "../../examples/repo-report/joy.yaml", "../../internal/cli/scaffold/joy.yaml"} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, validate(t, s, data), file)
		_, err = agent.Parse(data, file)
		require.NoError(t, err)
	}
}

// objects are the mappings that joy reads by name, as the parser calls them, and the schema's names for them.
var objects = map[string]string{
	"joy.yaml": "agent", "a trigger": "trigger", "model": "model", "connection ": "connection", "setup": "setup", "a step": "step", "a grant": "grant",
	"sandbox": "override", "policy": "policy", "artifacts": "artifacts", "an entry of allow": "allow",
}

// TestKeys holds that parser and schema know the same keys, object by object, and ask for the same.
func TestKeys(t *testing.T) {
	defs, ok := document(t, yamlSchema)["$defs"].(map[string]any)
	require.True(t, ok)
	parsed := parserKeys(t)
	require.Len(t, parsed, len(objects))
	for what, keys := range parsed {
		def, ok := defs[objects[what]].(map[string]any)
		require.True(t, ok, what)
		properties, _ := def["properties"].(map[string]any)
		var known, required []string
		for key, need := range keys {
			known = append(known, key)
			if need {
				required = append(required, key)
			}
		}
		for key := range properties {
			require.Contains(t, known, key, "the schema has a key that joy does not read in %s", what)
		}
		require.Len(t, properties, len(known), what)
		var asked []string
		list, _ := def["required"].([]any)
		for _, v := range list {
			asked = append(asked, v.(string)) //nolint:forcetypeassert // of the schema's own form
		}
		require.ElementsMatch(t, required, asked, what)
	}
}

// parserKeys reads the tables of fields in internal/agent: by object, each key and whether it is required.
func parserKeys(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	table := func(name string, lit *ast.CompositeLit) {
		keys := map[string]bool{}
		for _, e := range lit.Elts {
			field, ok := e.(*ast.CompositeLit)
			require.True(t, ok)
			key, err := strconv.Unquote(field.Elts[0].(*ast.BasicLit).Value) //nolint:forcetypeassert // of the parser's own form
			require.NoError(t, err)
			keys[key] = field.Elts[1].(*ast.Ident).Name == "true" //nolint:forcetypeassert // of the parser's own form
		}
		out[name] = keys
	}
	packages, err := parser.ParseDir(token.NewFileSet(), "../../internal/agent", nil, 0) //nolint:staticcheck // no build tags there
	require.NoError(t, err)
	for _, file := range packages["agent"].Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt: // fields := []field{…}, of joy.yaml as a whole
				if id, ok := n.Lhs[0].(*ast.Ident); ok && id.Name == "fields" {
					if lit, ok := n.Rhs[0].(*ast.CompositeLit); ok {
						table("joy.yaml", lit)
					}
				}
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "object" {
					if lit, ok := n.Args[2].(*ast.CompositeLit); ok {
						table(firstLiteral(t, n.Args[1]), lit)
					}
				}
			}
			return true
		})
	}
	return out
}

func firstLiteral(t *testing.T, e ast.Expr) (text string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && text == "" {
			var err error
			text, err = strconv.Unquote(lit.Value)
			require.NoError(t, err)
		}
		return true
	})
	return text
}

// TestWords holds the schema's words and bounds to those of the policy.
func TestWords(t *testing.T) {
	s := compile(t, yamlSchema)
	for key, words := range map[string][]string{"isolation": policy.Isolations, "approvals": policy.Approvals, "start": policy.Starts} {
		for _, w := range words {
			require.NoError(t, validate(t, s, []byte("version: 1\nname: a\nskills: [a]\npolicy: {"+key+": "+w+"}")))
		}
	}
	defs := document(t, yamlSchema)["$defs"].(map[string]any)           //nolint:forcetypeassert // of the schema's own form
	p := defs["policy"].(map[string]any)["properties"].(map[string]any) //nolint:forcetypeassert // of the schema's own form
	for key, want := range map[string]int{"isolation": len(policy.Isolations), "approvals": len(policy.Approvals), "start": len(policy.Starts)} {
		require.Len(t, p[key].(map[string]any)["enum"], want) //nolint:forcetypeassert // of the schema's own form
	}
	items := p["providers"].(map[string]any)["items"].(map[string]any)["enum"].([]any) //nolint:forcetypeassert // of the schema's own form
	for _, name := range items {
		require.True(t, slices.Contains(policy.Providers, name.(string))) //nolint:forcetypeassert // of the schema's own form
	}
	require.Len(t, items, len(policy.Providers))
}
