// Package schema checks values against the JSON Schemas that a plan has frozen (draft 2020-12,
// https://json-schema.org/draft/2020-12/schema).
//
// The one rule: a schema is self-contained. A $ref that leads out of it is refused, so checking never reads a file or
// the network.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// here is the base of relative references; nothing is at it but the schema itself.
const here = "joy:///schema"

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// Compile reads a schema. Empty JSON, {} and true allow everything.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(here, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(here)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), here, "the schema"))
	}
	return &Schema{compiled}, nil
}

// noLoader refuses every reference that leads out of the schema.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a $ref to %s leads out of the schema", url)
}

// Check says in one line what is wrong with value, which is JSON, or nil. The line quotes parts of the value: it is
// bounded, and may hold whatever the value holds.
func (s *Schema) Check(value json.RawMessage) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	err = s.compiled.Validate(v)
	var bad *jsonschema.ValidationError
	if !errors.As(err, &bad) {
		return err
	}
	var leaves []string
	collect(bad, &leaves)
	return errors.New(strings.Join(leaves, "; "))
}

var english = message.NewPrinter(language.English)

// collect gathers the deepest causes, at most a few of them: what is above says only that something below is wrong.
func collect(e *jsonschema.ValidationError, out *[]string) {
	const few = 5
	for _, c := range e.Causes {
		collect(c, out)
	}
	if len(e.Causes) > 0 || len(*out) >= few {
		return
	}
	where := "it"
	if len(e.InstanceLocation) > 0 {
		where = strings.Join(e.InstanceLocation, ".")
	}
	if _, ok := e.ErrorKind.(*kind.Schema); ok {
		return
	}
	*out = append(*out, brief(where, maxWhere)+": "+brief(e.ErrorKind.LocalizedString(english), maxWhat))
}

// Bounds of what a line says of one mistake, in bytes: the value may be megabytes.
const (
	maxWhere = 120
	maxWhat  = 300
)

func brief(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
