package worldtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// Bundle is what a SKILL.md of this repository says of itself.
type Bundle struct {
	Name  string
	Entry string // relative to the bundle

	input, output *jsonschema.Schema
}

// Load reads the SKILL.md of the bundle at path. Its front matter has to be plain YAML with both schemas.
func Load(t testing.TB, path string) Bundle {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path, "SKILL.md"))
	require.NoError(t, err)
	front, _, found := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
	require.True(t, found, "%s: the front matter is not closed", path)
	var fields struct {
		Name     string            `yaml:"name"`
		Metadata map[string]string `yaml:"metadata"`
		Input    map[string]any    `yaml:"input_schema"`
		Output   map[string]any    `yaml:"output_schema"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(front), &fields))
	require.Equal(t, filepath.Base(path), fields.Name)
	return Bundle{
		Name: fields.Name, Entry: fields.Metadata["joy.entry"],
		input: compile(t, fields.Input), output: compile(t, fields.Output),
	}
}

// CheckInput requires that value keeps the bundle's input_schema.
func (b Bundle) CheckInput(t testing.TB, value map[string]any) {
	t.Helper()
	require.NoError(t, b.input.Validate(plain(t, value)))
}

// CheckOutput requires that value keeps the bundle's output_schema.
func (b Bundle) CheckOutput(t testing.TB, value map[string]any) {
	t.Helper()
	require.NoError(t, b.output.Validate(plain(t, value)))
}

func compile(t testing.TB, schema map[string]any) *jsonschema.Schema {
	t.Helper()
	require.NotEmpty(t, schema)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("schema.json", plain(t, schema)))
	compiled, err := compiler.Compile("schema.json")
	require.NoError(t, err)
	return compiled
}

// plain turns what YAML or a test made into what a JSON decoder makes.
func plain(t testing.TB, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	decoded, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	require.NoError(t, err)
	return decoded
}
