package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Symbol stands for a value that is not known yet. A path into it is a longer Symbol, and as JSON or inside a text it
// is "<steps.fetch.output.total>".
type Symbol string

func (s Symbol) String() string { return "<" + string(s) + ">" }

// MarshalJSON writes the text form.
func (s Symbol) MarshalJSON() ([]byte, error) { return plainJSON(s.String()) }

// ArtifactRef is what a reference to an artifact resolves to. A step in the VM sees it as the path of the file, which
// is its text and its JSON; for an action the runner puts the bytes in its place.
type ArtifactRef struct {
	Step, Name string
	SHA256     string // hex, of the stored bytes
	Size       int64
}

func (a ArtifactRef) String() string { return "/workspace/in/" + a.Step + "/" + a.Name }

// MarshalJSON writes the path of the file in the VM.
func (a ArtifactRef) MarshalJSON() ([]byte, error) { return plainJSON(a.String()) }

// Lookup gives the value at the root of a reference: the run's input, the output of r.Step, or its artifact (an
// ArtifactRef). The value is JSON as json.RawMessage, a decoded tree with json.Number, or a Symbol. Path is not its
// business.
type Lookup func(r Ref) (any, error)

// Resolve puts values in the place of the references in with, which is JSON. A string that is one reference becomes
// the value, whatever its type; a reference inside other text becomes the text of a scalar. Numbers keep their
// spelling. A key whose whole value is an input that the run was not given is left out, so that optional inputs can be
// handed on; the build holds that the input is declared. The result holds maps, lists, strings, json.Number, bool, nil,
// Symbol and ArtifactRef, and marshals.
func Resolve(with json.RawMessage, lookup Lookup) (any, error) {
	tree, err := decode(with)
	if err != nil {
		return nil, fmt.Errorf("read with: %w", err)
	}
	return resolve(tree, lookup)
}

func resolve(v any, lookup Lookup) (any, error) {
	var err error
	switch t := v.(type) {
	case string:
		return resolveString(t, lookup)
	case []any:
		for i := range t {
			t[i], err = resolve(t[i], lookup)
			if errors.Is(err, errNotGiven) {
				return nil, fmt.Errorf("element %d of a list: %s", i, err.Error()) // a list has no key to leave out
			} else if err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) { // sorted, so that the same error is told every time
			t[k], err = resolve(t[k], lookup)
			if errors.Is(err, errNotGiven) {
				delete(t, k)
			} else if err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// errNotGiven is a whole-value reference to an input that is not there.
var errNotGiven = errors.New("the run was not given it")

func resolveString(s string, lookup Lookup) (any, error) {
	parts, err := split(s)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", s, err)
	}
	if len(parts) == 1 && parts[0].ref != nil {
		return fetch(*parts[0].ref, lookup)
	}
	var b strings.Builder
	for _, p := range parts {
		if p.ref == nil {
			b.WriteString(p.text)
			continue
		}
		v, err := fetch(*p.ref, lookup)
		if errors.Is(err, errNotGiven) {
			return nil, fmt.Errorf("%s: the run was not given it, and it stands inside a text", p.ref)
		} else if err != nil {
			return nil, err
		}
		text, err := scalar(v)
		if err != nil {
			return nil, fmt.Errorf("%s is %w", p.ref, err)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// fetch follows the path of a reference from the value at its root.
func fetch(r Ref, lookup Lookup) (any, error) {
	v, err := lookup(r)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", r, err)
	}
	if raw, ok := v.(json.RawMessage); ok {
		if v, err = decode(raw); err != nil {
			return nil, fmt.Errorf("look up %s: %w", r, err)
		}
	}
	for i, e := range r.Path {
		if s, ok := v.(Symbol); ok {
			return s + Symbol(pathText(r.Path[i:])), nil
		}
		if m, ok := v.(map[string]any); ok && i == 0 && r.Root == RootInputs && !e.List {
			if _, given := m[e.Key]; !given {
				return nil, fmt.Errorf("%s: %w", r, errNotGiven)
			}
		}
		so := Ref{Root: r.Root, Step: r.Step, Path: r.Path[:i]}
		if v, err = enter(v, e); err != nil {
			return nil, fmt.Errorf("%s: %s %w", r, so, err)
		}
	}
	return v, nil
}

func enter(v any, e Elem) (any, error) {
	switch t := v.(type) {
	case map[string]any:
		if e.List {
			return nil, fmt.Errorf("is an object, not a list")
		}
		sub, ok := t[e.Key]
		if !ok {
			return nil, fmt.Errorf("has no %q; it has %s", e.Key, some(slices.Sorted(maps.Keys(t))))
		}
		return sub, nil
	case []any:
		switch {
		case !e.List:
			return nil, fmt.Errorf("is a list, not an object")
		case e.Index >= len(t):
			return nil, fmt.Errorf("has %d elements, none at [%d]", len(t), e.Index)
		}
		return t[e.Index], nil
	}
	return nil, errors.New("is a plain value: there is nothing inside it")
}

// scalar is the text of a value that may stand inside other text; the error completes "X is …".
func scalar(v any) (string, error) {
	const advice = "and cannot stand inside a text; let the reference be the whole value"
	switch t := v.(type) {
	case string:
		return t, nil
	case json.Number:
		return t.String(), nil
	case bool:
		return fmt.Sprint(t), nil
	case Symbol:
		return t.String(), nil
	case ArtifactRef:
		return t.String(), nil
	case nil:
		return "", errors.New("null " + advice)
	case []any:
		return "", errors.New("a list " + advice)
	case map[string]any:
		return "", errors.New("an object " + advice)
	}
	return "", fmt.Errorf("of a type (%T) that no reference has", v)
}

// decode reads one JSON value with its numbers as they are spelled.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the JSON value")
	}
	return v, nil
}

// plainJSON writes < and > as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func some(keys []string) string {
	const few = 8
	switch {
	case len(keys) == 0:
		return "nothing"
	case len(keys) > few:
		return fmt.Sprintf("%s and %d more", strings.Join(keys[:few], ", "), len(keys)-few)
	}
	return strings.Join(keys, ", ")
}
