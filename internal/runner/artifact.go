package runner

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/plan"
)

// fileRef is a file input of the run in the input of an action step, which gets its bytes. Written, it is the file's
// name.
type fileRef struct{ FileInput }

// MarshalJSON writes the name.
func (f fileRef) MarshalJSON() ([]byte, error) { return marshal(f.Name) }

// shape is what is read of a schema to see in which form it takes bytes.
type shape struct {
	Ref        string           `json:"$ref"`
	Type       any              `json:"type"`
	Format     string           `json:"format"`
	Encoding   string           `json:"contentEncoding"`
	Properties map[string]shape `json:"properties"`
	Items      json.RawMessage  `json:"items"` // a schema, or true, or a list in old drafts
	AnyOf      []shape          `json:"anyOf"`
	OneOf      []shape          `json:"oneOf"`
	Defs       map[string]shape `json:"$defs"`
	OldDefs    map[string]shape `json:"definitions"`

	root *shape
}

// shapeOf reads a schema. Where it cannot be read, bytes are passed as to a string: the broker checks the arguments by
// the schema itself.
func shapeOf(schema json.RawMessage) shape {
	var s shape
	if json.Unmarshal(schema, &s) != nil {
		s = shape{}
	}
	s.root = &s
	return s.followed()
}

// followed is the shape that takes the value: behind a reference within the schema, or the first alternative.
func (s shape) followed() shape {
	const deepest = 8 // references may form a circle
	root := s.root
	for range deepest {
		next, found := s, false
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			next, found = root.Defs[name]
		} else if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
			next, found = root.OldDefs[name]
		} else if all := slices.Concat(s.AnyOf, s.OneOf); len(all) > 0 && s.Type == nil {
			next, found = all[0], true
		}
		if !found {
			break
		}
		s = next
	}
	s.root = root
	return s
}

func (s shape) property(name string) shape {
	p := s.Properties[name]
	p.root = s.root
	return p.followed()
}

func (s shape) item() shape {
	var i shape
	_ = json.Unmarshal(s.Items, &i) // true, or a list: any value
	i.root = s.root
	return i.followed()
}

// object says whether it takes an object rather than text.
func (s shape) object() bool {
	return s.Type == "object" || s.Type == nil && len(s.Properties) > 0
}

func (s shape) has(property string) bool {
	_, ok := s.Properties[property]
	return ok
}

// fill puts the bytes of artifacts and file inputs into an action's input, in the form that the tool's schema takes.
func (r *run) fill(v any, s shape) (any, error) {
	var err error
	switch t := v.(type) {
	case plan.ArtifactRef:
		body, err := r.bytesOf(t.Size, func() (io.ReadCloser, error) { return r.Objects.Open("sha256:" + t.SHA256) })
		if err != nil {
			return nil, fmt.Errorf("reading the artifact %s of %s: %w", t.Name, t.Step, err)
		}
		return s.carry(body, path.Join(t.Step, t.Name)), nil
	case fileRef:
		body, err := r.bytesOf(t.Size, t.Open)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", t.Name, err)
		}
		return s.carry(body, t.Name), nil
	case []any:
		out := make([]any, len(t))
		for i := range t {
			if out[i], err = r.fill(t[i], s.item()); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(t)) {
			if out[k], err = r.fill(t[k], s.property(k)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// maxPassed bounds what one call may be passed of one file, in bytes: in base64 it is near what the broker takes.
const maxPassed = 32 << 20

// bytesOf reads a file to its end, where its digest is checked.
func (r *run) bytesOf(size int64, open func() (io.ReadCloser, error)) ([]byte, error) {
	if size > maxPassed {
		return nil, fmt.Errorf("it has %d bytes, and a call takes at most %d", size, maxPassed)
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// carry puts bytes into the form that a schema takes: base64 where it says so; an embedded resource
// (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#embedded-resources) where it takes an object;
// else text, or base64 when they are none.
func (s shape) carry(body []byte, name string) any {
	var check textCheck
	_, _ = check.Write(body) // never fails
	plain := check.text()
	if !s.object() {
		if s.Encoding == "base64" || s.Format == "byte" || !plain {
			return base64.StdEncoding.EncodeToString(body)
		}
		return string(body)
	}
	if s.has("resource") {
		return map[string]any{"type": "resource", "resource": s.property("resource").carry(body, name)}
	}
	res := map[string]any{}
	if s.has("text") && plain || !s.has("blob") && plain {
		res["text"] = string(body)
	} else {
		res["blob"] = base64.StdEncoding.EncodeToString(body)
	}
	all := len(s.Properties) == 0
	if all || s.has("uri") {
		res["uri"] = (&url.URL{Scheme: "artifact", Path: "/" + name}).String()
	}
	if all || s.has("mimeType") {
		res["mimeType"] = http.DetectContentType(body)
	}
	if s.has("name") {
		res["name"] = path.Base(name)
	}
	return res
}
