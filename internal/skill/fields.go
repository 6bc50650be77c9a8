package skill

import (
	"encoding/json"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/digest"
)

// declaration is what the fields say that needs the bundle's files to be judged.
type declaration struct {
	entry string // as written; empty when none
	at    place  // of entry
	raw   digest.Globs
}

// fieldReader reads the fields of one front matter into a bundle.
type fieldReader struct {
	*report
	front
	b    *Bundle
	out  declaration
	seen map[string]place

	unread []string // keys of fields that nobody here reads
}

// readFields fills the bundle from its front matter. Fields that neither the spec nor joy knows are violations only.
func (b *Bundle) readFields(f front, fields []field, dirName string, r *report) declaration {
	fr := &fieldReader{report: r, front: f, b: b, seen: map[string]place{}}
	for _, f := range fields {
		fr.seen[f.key] = f.at
		if !fr.specField(f) {
			fr.otherField(f)
		}
	}
	b.descriptionLine = fr.seen["description"].line
	b.kindLine = fr.seen["skill_kind"].line
	b.metadataLine = fr.seen["metadata"].line
	b.compatibilityLine = fr.seen["compatibility"].line
	b.requiresLine = fr.seen["requires"].line
	for _, key := range []string{"allowed-tools", "allowed_tools", "allowedTools", "tools"} {
		b.toolsLine = max(b.toolsLine, fr.seen[key].line)
	}
	if len(fr.unread) > 0 {
		r.add(SeverityNote, RuleField, r.file, place{line: fr.seen[fr.unread[0]].line}, "not read: "+shorten(strings.Join(fr.unread, ", ")))
	}
	fr.checkName(dirName)
	fr.checkDescription()
	return fr.out
}

// specField reads a field of the Agent Skills spec, or reports that f is none.
func (r *fieldReader) specField(f field) bool {
	switch f.key {
	case "name":
		r.b.Name = norm.NFKC.String(strings.TrimSpace(r.text(f)))
	case "description":
		r.b.Description = r.text(f)
	case "license":
		r.b.License = strings.Join(r.items(f, func(s string) []string { return []string{s} }), ", ")
	case "compatibility":
		r.compatibility(f)
	case "metadata":
		r.metadata(f)
	case "allowed-tools":
		r.b.AllowedTools = append(r.b.AllowedTools, r.items(f, splitTools)...)
	default:
		return false
	}
	return true
}

// otherField reads joy's and JoyStream's own fields and other tools' spellings.
func (r *fieldReader) otherField(f field) {
	b := r.b
	if f.key == "entrypoint" {
		if r.strict {
			r.warn(RuleField, f.at, "entrypoint is not a field of the spec: write metadata: {joy.entry: …}")
		}
		r.declareEntry(r.text(f), r.place(f.value))
		return
	}
	r.quiet(RuleField, f.at, "field %q is not in the spec", f.key)
	if !readBeyondSpec[f.key] {
		r.unread = append(r.unread, f.key)
	}
	switch f.key {
	case "allowed_tools":
		for _, t := range r.items(f, splitTools) {
			if actionID.MatchString(t) {
				b.Actions = append(b.Actions, t)
			} else {
				b.AllowedTools = append(b.AllowedTools, t)
			}
		}
	case "allowedTools", "tools":
		b.AllowedTools = append(b.AllowedTools, r.items(f, splitTools)...)
	case "skill_kind":
		if b.SkillKind = r.text(f); b.SkillKind != Instruction && b.SkillKind != Script {
			r.fail(RuleField, r.place(f.value), "write skill_kind: instruction or skill_kind: script",
				"skill_kind %q is neither instruction nor script", b.SkillKind)
		}
	case "hooks":
		r.warn(RuleLoadCode, f.at, "hooks run commands around the skill: joy runs none of them")
	case "requires":
		b.requires, _ = plain(f.value).(map[string]any)
	case "input_schema":
		b.InputSchema = r.schema(f)
	case "output_schema":
		b.OutputSchema = r.schema(f)
	}
}

// readBeyondSpec are the fields that joy reads although the spec does not know them.
var readBeyondSpec = set("allowed_tools allowedTools tools skill_kind hooks requires input_schema output_schema")

// actionID is the form connection.tool.
var actionID = regexp.MustCompile(`^[A-Za-z0-9][\w-]*\.[A-Za-z0-9][\w.-]*$`)

// metadata keeps the mapping as it is and reads joy's own keys out of it.
func (r *fieldReader) metadata(f field) {
	if f.value.Kind != yaml.MappingNode {
		if scalar(f.value) != "" || f.value.Kind != yaml.ScalarNode {
			r.warn(RuleField, r.place(f.value), "metadata is not a mapping and was left out")
		}
		return
	}
	r.b.Metadata, _ = plain(f.value).(map[string]any)
	for i := 0; i+1 < len(f.value.Content); i += 2 {
		k, v := f.value.Content[i], f.value.Content[i+1]
		switch k.Value {
		case "joy.entry":
			r.declareEntry(r.text(field{k.Value, r.place(k), v}), r.place(v))
		case "joy.raw":
			globs, err := digest.ParseGlobs(strings.Join(r.items(field{k.Value, r.place(k), v}, splitTools), " "))
			if err != nil {
				r.fail(RuleField, r.place(v), `write globs such as "*.bat, templates/**"`, "joy.raw: %v", err)
			}
			r.out.raw = globs
		}
	}
}

func (r *fieldReader) declareEntry(path string, at place) {
	if r.out.entry != "" && r.out.entry != path {
		r.fail(RuleEntry, at, "keep metadata: {joy.entry: …}", "two entry points are declared, the other on line %d", r.out.at.line)
		return
	}
	r.out.entry, r.out.at = path, at
	if path == "" {
		r.fail(RuleEntry, at, "name a file of the bundle, such as scripts/run.py", "the entry point is empty")
	}
}

// schema is a JSON Schema in canonical form, nil when it is not one.
func (r *fieldReader) schema(f field) json.RawMessage {
	if f.value.Kind != yaml.MappingNode {
		r.fail(RuleSchema, r.place(f.value), "write the JSON Schema itself, as YAML", "%s is not a mapping", f.key)
		return nil
	}
	v, bad, err := jsonValue(f.value)
	if err != nil {
		r.fail(RuleSchema, r.place(bad), "", "%s: %v", f.key, err)
		return nil
	}
	raw, err := digest.Canonical(v)
	if err != nil {
		r.fail(RuleSchema, r.place(f.value), "", "%s cannot be written as JSON: %v", f.key, err)
		return nil
	}
	return raw
}
