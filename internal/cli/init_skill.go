package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
)

// taskInputs is the input of an instruction that declares none.
const taskInputs = `{"type": "object", "required": ["task"], "properties": {"task": {"type": "string", "description": "What the skill is to do."}}}`

// agentAround makes the files of an agent whose one step is the bundle in dir: the bundle as a build would pin it, and a
// joy.yaml that hands its inputs on.
func (a *app) agentAround(dir string) (files []scaffoldFile, next string, err error) {
	b, err := a.loadSkill(dir)
	if err != nil {
		for _, e := range fault.All(err) {
			e.File = within(dir, e.File)
		}
		return nil, "", err
	}
	name := slugOf(b.Name)
	if name == "" {
		return nil, "", fault.New(fault.Input, "the skill's name %q makes no name for an agent", b.Name).At(within(dir, b.SkillFile), 0, 0)
	}
	schema := b.InputSchema
	if schema == nil && b.Entry == nil {
		schema = json.RawMessage(taskInputs)
	}
	yaml, keys, err := agentYAML(name, b, schema)
	if err != nil {
		return nil, "", err
	}
	files, err = embedded(scaffold, "scaffold")
	if err != nil {
		return nil, "", err
	}
	files = slices.DeleteFunc(files, func(f scaffoldFile) bool { return f.path != ".gitignore" })
	files = append(files, scaffoldFile{build.SpecName, yaml, 0o644})
	for _, f := range b.Files {
		mode := fs.FileMode(0o644)
		if f.Mode == digest.ModeExec {
			mode = 0o755
		}
		files = append(files, scaffoldFile{path.Join("skills", name, f.Path), b.Contents[f.Path], mode})
	}
	next = "joy build && joy run"
	for _, k := range keys {
		next += " --input " + k + "=…"
	}
	return files, next, nil
}

// agentYAML writes joy.yaml and holds that joy reads it. keys are the inputs a run must give. Values are written as JSON,
// which is YAML as long as no line end of YAML's own stands in it.
func agentYAML(name string, b *skill.Bundle, schema json.RawMessage) (text []byte, keys []string, err error) {
	var out strings.Builder
	fmt.Fprintf(&out, "version: 1\nname: %s\ndescription: %s\n", name, yamlText(b.Description))
	var object struct {
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if schema != nil {
		if err := json.Unmarshal(schema, &object); err != nil {
			return nil, nil, fault.Wrap(fault.Input, err, "read input_schema")
		}
		var block bytes.Buffer
		if err := json.Indent(&block, schema, "  ", "  "); err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(&out, "\ninputs:\n  %s\n", yamlSafe(block.String()))
	}
	fmt.Fprintf(&out, "\nskills: [skills/%s]\n\nsteps:\n  - id: %s\n    skill: %s\n", name, name, yamlText(b.Name))
	if len(object.Properties) > 0 {
		out.WriteString("    with:\n")
		for _, key := range slices.Sorted(maps.Keys(object.Properties)) {
			ref := "${{ " + plan.Ref{Root: plan.RootInputs, Path: []plan.Elem{{Key: key}}}.String() + " }}"
			if _, err := plan.Refs(ref); err != nil {
				return nil, nil, fault.New(fault.Input, "the input %q has a name that no reference can spell", key).At(b.SkillFile, 0, 0)
			}
			fmt.Fprintf(&out, "      %s: %s\n", yamlText(key), yamlText(ref))
		}
	}
	fmt.Fprintf(&out, "\nimage: %s\n", profileFor(b))
	if _, err := agent.Parse([]byte(out.String()), build.SpecName); err != nil {
		e := fault.Wrap(fault.Input, err, "write joy.yaml for this bundle").At(b.SkillFile, 0, 0)
		return nil, nil, e.WithHint("start with joy init, and name the bundle in its joy.yaml")
	}
	return []byte(out.String()), object.Required, nil
}

// profileFor is the smallest image that has what the bundle starts with and declares. A model that works in the VM finds
// little use in the smallest.
func profileFor(b *skill.Bundle) string {
	needs := b.Needs()
	var programs []string
	if b.Entry != nil {
		programs = append(programs, path.Base(b.Entry.Argv[0]))
	} else if needs.Sandbox {
		programs = append(programs, "python3")
	}
	for _, n := range needs.Binaries {
		programs = append(programs, n.Name)
	}
	return build.SmallestProfile(programs)
}

// slugOf is a name of a bundle as that of an agent, of a step and of a directory.
func slugOf(name string) string {
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(slug[:min(len(slug), maxSkillName)], "-")
}

// yamlText is a text in double quotes.
func yamlText(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""` // a string always marshals
	}
	return yamlSafe(string(raw))
}

// yamlSafe escapes what ends a line in YAML and not in JSON.
func yamlSafe(s string) string {
	return strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`, "\u007f", `\u007f`, "\ufeff", `\ufeff`).Replace(s)
}
