package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
)

var update = flag.Bool("update", false, "write joy.lock.schema.json anew")

const lockSchema = "joy.lock.schema.json"

type object = map[string]any

// more is what the types of a plan do not say, by place.
var more = map[string]object{
	"lock_version":                 {"const": plan.LockVersion},
	"rules":                        {"minimum": 1},
	"plan_digest":                  digestText("over the canonical form of everything else"),
	"agent.name":                   {"pattern": "^[a-z0-9-]{1,64}$"},
	"agent.workspace":              {"pattern": "^[a-z0-9-]{1,64}$"},
	"model.key":                    {"pattern": "^(secret:[A-Za-z0-9_-]{1,64})?$"},
	"triggers[].missed":            {"enum": []string{"skip", "once"}},
	"policy.isolation":             {"enum": policy.Isolations},
	"policy.approvals":             {"enum": policy.Approvals},
	"policy.start":                 {"enum": policy.Starts},
	"policy.providers[]":           {"enum": policy.Providers},
	"policy.cpus":                  {"minimum": 1, "maximum": policy.MaxCPUs},
	"skills[].digest":              digestText("over files"),
	"skills[].findings[].rule":     {"pattern": "^JOY-[A-Z0-9-]+$"},
	"connections{}.transport":      {"enum": []string{"stdio", "http"}},
	"connections{}.secrets{}":      {"pattern": "^secret:[A-Za-z0-9_-]{1,64}$"},
	"connections{}.tools{}":        {"required": []string{"digest", "definition"}},
	"connections{}.tools{}.digest": digestText("of the definition, in the canonical form that keeps the spelling of numbers"),
	"image.profile":                {"enum": []string{"tiny", "base", "full", ""}},
	"steps[].id":                   {"pattern": "^[a-z0-9-]{1,64}$"},
	"steps[].kind":                 {"enum": []string{plan.Script, plan.Prompt, plan.Action}},
	"steps[].approve":              {"enum": []string{"", "ask", "granted"}},
}

// everywhere is more for keys that mean the same wherever they stand.
var everywhere = map[string]object{
	"sha256":   {"pattern": "^[0-9a-f]{64}$"},
	"mode":     {"enum": []string{"0644", "0755"}},
	"size":     {"minimum": 0},
	"severity": {"enum": []string{"error", "warning", "note"}},
	"line":     {"minimum": 0},
	"amd64":    {"pattern": "^sha256:[0-9a-f]{64}$"},
	"arm64":    {"pattern": "^sha256:[0-9a-f]{64}$"},
}

func digestText(of string) object {
	return object{"pattern": "^sha256:[0-9a-f]{64}$", "description": "sha256 " + of}
}

// schemaOf makes the schema of a type of the lock: every key of every object is there and no other.
func schemaOf(typ reflect.Type, at string) object {
	out := object{}
	switch typ {
	case reflect.TypeFor[json.RawMessage]():
		return object{"type": "object"}
	case reflect.TypeFor[policy.Duration]():
		return object{"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ns|µs|ms|s|m|h))+$"}
	}
	switch typ.Kind() {
	case reflect.Pointer:
		out = schemaOf(typ.Elem(), at)
		out["type"] = []any{out["type"], "null"}
		return out
	case reflect.Struct:
		properties, required := object{}, []string{}
		for i := range typ.NumField() {
			key, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			properties[key] = schemaOf(typ.Field(i).Type, strings.TrimPrefix(at+"."+key, "."))
			if options != "omitempty" {
				required = append(required, key)
			}
		}
		out = object{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
	case reflect.Slice:
		out = object{"type": "array", "items": schemaOf(typ.Elem(), at+"[]")}
	case reflect.Map:
		out = object{"type": "object", "additionalProperties": schemaOf(typ.Elem(), at+"{}")}
	case reflect.String:
		out["type"] = "string"
	case reflect.Bool:
		out["type"] = "boolean"
	case reflect.Float64:
		out["type"] = "number"
	default:
		out["type"] = "integer"
	}
	key := at[strings.LastIndex(at, ".")+1:]
	for _, extra := range []object{everywhere[key], more[at]} {
		for k, v := range extra {
			out[k] = v
		}
	}
	return out
}

// TestLockSchema holds the published schema to the types that joy reads and writes.
func TestLockSchema(t *testing.T) {
	doc := schemaOf(reflect.TypeFor[plan.Plan](), "")
	doc["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	doc["title"] = "joy.lock"
	doc["description"] = "A frozen plan. joy reads only what it writes, byte for byte; this schema is for other readers."
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(doc))
	if *update {
		require.NoError(t, os.WriteFile(lockSchema, want.Bytes(), 0o644))
	}
	got, err := os.ReadFile(lockSchema)
	require.NoError(t, err)
	require.Equal(t, want.String(), string(got), "the types have changed: go test ./docs/schema -update")
}

func TestLocks(t *testing.T) {
	s := compile(t, lockSchema)
	data, err := os.ReadFile("../../examples/repo-report/joy.lock")
	require.NoError(t, err)
	read := func() object {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		require.NoError(t, err)
		return doc.(object) //nolint:forcetypeassert // a lock is an object
	}
	require.NoError(t, s.Validate(read()))
	first := func(doc object, key string) object { return doc[key].([]any)[0].(object) } //nolint:forcetypeassert // of the lock's own form
	for name, change := range map[string]func(doc object){
		"another version":  func(doc object) { doc["lock_version"] = json.Number("2") },
		"another key":      func(doc object) { doc["joy_version"] = "1.0" },
		"no digest":        func(doc object) { delete(doc, "plan_digest") },
		"short digest":     func(doc object) { doc["plan_digest"] = "sha256:00" },
		"no steps":         func(doc object) { doc["steps"] = nil },
		"key of a step":    func(doc object) { first(doc, "steps")["host"] = true },
		"kind of a step":   func(doc object) { first(doc, "steps")["kind"] = "shell" },
		"step without id":  func(doc object) { delete(first(doc, "steps"), "id") },
		"timeout":          func(doc object) { first(doc, "steps")["timeout"] = json.Number("60") },
		"needs":            func(doc object) { first(doc, "steps")["needs"] = "a" },
		"sandbox":          func(doc object) { first(doc, "steps")["sandbox"] = true },
		"with":             func(doc object) { first(doc, "steps")["with"] = []any{} },
		"mode of a file":   func(doc object) { first(first(doc, "skills"), "files")["mode"] = "0777" },
		"size of a file":   func(doc object) { first(first(doc, "skills"), "files")["size"] = json.Number("-1") },
		"digest of a file": func(doc object) { first(first(doc, "skills"), "files")["sha256"] = "sha256:" },
		"image":            func(doc object) { doc["image"] = "base" },
		"policy":           func(doc object) { doc["policy"].(object)["cpus"] = json.Number("65") },
		"a secret's value": func(doc object) {
			doc["model"] = object{"provider": "a", "name": "b", "base_url": "", "key": "sk-1", "max_turns": json.Number("1"), "max_tokens": json.Number("1"), "max_cost": json.Number("0")}
		},
	} {
		doc := read()
		change(doc)
		require.Error(t, s.Validate(doc), name)
	}
}
