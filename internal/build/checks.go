package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/schema"
	"github.com/joystream-ai/joy/internal/secret/rules"
	"github.com/joystream-ai/joy/internal/skill"
)

// schemas holds that every schema is one, and asks for nothing from elsewhere.
func (b *builder) schemas() {
	if b.spec.Inputs != nil {
		if err := checkSchema(b.plan.Inputs); err != nil {
			b.fail(b.spec.Inputs.Pos, "inputs is not a JSON Schema: %v", err)
		} else if !isObjectSchema(b.plan.Inputs) {
			b.fail(b.spec.Inputs.Pos, "inputs describes no object").WithHint("inputs: {type: object, properties: {…}}")
		}
	}
	for _, s := range b.bundles {
		b.bundleSchema(s, "input_schema", s.pin.InputSchema)
		b.bundleSchema(s, "output_schema", s.pin.OutputSchema)
	}
}

func (b *builder) bundleSchema(s bundle, key string, raw json.RawMessage) {
	if raw == nil {
		return
	}
	if err := checkSchema(raw); err != nil {
		e := fault.New(fault.Input, "%s is not a JSON Schema: %v", key, err).At(s.skillFile, 0, 0)
		e.Code = skill.RuleSchema
		b.errs = append(b.errs, e)
	}
}

// checkSchema is the innermost reason why a schema is none, which is what a person can act on.
func checkSchema(raw json.RawMessage) error {
	_, err := schema.Compile(raw)
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return errors.New(strings.TrimLeft(lines[len(lines)-1], " -"))
}

func isObjectSchema(raw json.RawMessage) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(raw, &s) == nil && (s.Type == nil || s.Type == "object")
}

// fixtures holds that a recorded answer is of a declared connection and is there.
func (b *builder) fixtures() {
	for _, action := range slices.Sorted(maps.Keys(b.spec.Fixtures)) {
		file := b.spec.Fixtures[action]
		b.connection(agent.Text{Value: action, Pos: file.Pos})
		if info, err := fs.Lstat(b.fsys, file.Value); err != nil || !info.Mode().IsRegular() {
			b.fail(file.Pos, "fixtures: there is no file %s", file.Value)
		}
	}
}

// collisions holds that no two inputs of a step share a variable: JOY_INPUT_<NAME> folds case and all punctuation.
func (b *builder) collisions() {
	at := map[string]agent.Pos{}
	for _, s := range b.spec.Steps {
		at[s.ID] = s.With.Pos
	}
	for _, s := range b.plan.Steps {
		var with map[string]json.RawMessage
		if json.Unmarshal(s.With, &with) != nil {
			continue // a mistake that has been told
		}
		first := map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(with)) {
			name := plan.InputVariable(key)
			if prior, taken := first[name]; taken {
				b.fail(at[s.ID], "step %s: the inputs %q and %q are both %s in the VM", s.ID, prior, key, name).WithHint("rename one of them")
			}
			first[name] = key
		}
	}
}

// findings fails the build on every error, with Strict on every warning, that allow does not accept.
func (b *builder) findings() {
	for i, s := range b.bundles {
		b.plan.Skills[i].Findings = append(b.plan.Skills[i].Findings, b.ungranted(s)...)
		for _, f := range b.plan.Skills[i].Findings {
			b.judge(f)
		}
		b.open = append(b.open, s.checkout...)
	}
	for i, a := range b.plan.Allow {
		scrubs := slices.Contains(rules.Default().Names(), a.Rule)
		if name, out := strings.CutPrefix(a.File, plan.OutDir+"/"); out && (a.Rule == plan.RuleUnread || scrubs) {
			b.notes = append(b.notes, fmt.Sprintf("what %s finds in the artifact %s is kept as it is", a.Rule, name))
			continue
		}
		if name, in := strings.CutPrefix(a.File, plan.InDir+"/"); in && (a.Rule == skill.RuleSecret || scrubs) {
			b.notes = append(b.notes, fmt.Sprintf("what %s finds in the input %s goes into the VM", a.Rule, name))
			continue
		}
		if !b.used[i] {
			b.notes = append(b.notes, fmt.Sprintf("allow %s in %s accepts nothing: there is no such finding", a.Rule, a.File))
		}
	}
}

// judge keeps a finding, makes an error of it, or leaves out what allow accepts.
func (b *builder) judge(f plan.Finding) {
	allowed := func(a plan.Allow) bool {
		return (a.Rule == f.Rule || f.By != "" && a.Rule == f.By) && a.File == path.Clean(f.File)
	}
	if at := slices.IndexFunc(b.plan.Allow, allowed); at >= 0 {
		b.used[at] = true
		return
	}
	if f.Severity == skill.SeverityError || b.o.Strict && f.Severity == skill.SeverityWarning {
		e := fault.New(fault.Input, "%s", f.Message).At(f.File, f.Line, f.Col).
			WithHint("mend it, or in joy.yaml: allow: [{rule: %s, file: %s, reason: …}]", f.Rule, f.File)
		if f.By != "" {
			e = e.WithHint("no credential enters a VM: take it out, and revoke it when it is a real one; or in joy.yaml: allow: [{rule: %s, file: %s, reason: …}]", f.By, f.File)
		}
		e.Code = f.Rule
		b.errs = append(b.errs, e)
		return
	}
	b.open = append(b.open, f)
}
