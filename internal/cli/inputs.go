package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/schema"
	"github.com/joystream-ai/joy/internal/secret"
)

// maxInput bounds the JSON of a run's input; large data goes in as files.
const maxInput = 16 << 20

// inputs are what a run was given.
type inputs struct {
	json  json.RawMessage // canonical; a file input is its digest
	files map[string]runner.FileInput
}

// property is what joy reads of one input's schema.
type property struct {
	Type    any             `json:"type"`
	Format  string          `json:"format"`
	Secret  bool            `json:"x-joy-secret"`
	Default json.RawMessage `json:"default"`
}

func (p property) isFile() bool { return p.Type == "string" && p.Format == "file" }

// readInputs reads --input and --input-file by the plan's schema. take keeps the bytes of a file input and says what
// they are; values of inputs marked x-joy-secret are added to secrets.
func (a *app) readInputs(p *plan.Plan, flags []string, file string, secrets *secret.Set, take func(name, path string) (runner.FileInput, error)) (*inputs, error) {
	var spec struct {
		Properties map[string]property `json:"properties"`
	}
	if err := json.Unmarshal(p.Inputs, &spec); err != nil {
		return nil, fault.Wrap(fault.Input, err, "read the schema of the inputs")
	}
	values, err := a.inputValues(spec.Properties, flags, file)
	if err != nil {
		return nil, err
	}
	in := &inputs{files: map[string]runner.FileInput{}}
	for name, prop := range spec.Properties {
		v, given := values[name]
		switch {
		case !given && len(prop.Default) > 0:
			values[name] = prop.Default
		case given && prop.isFile():
			f, err := fileInput(name, v, p, take)
			if err != nil {
				return nil, err
			}
			in.files[name] = f
			values[name] = json.RawMessage(`"sha256:` + f.SHA256 + `"`)
		case given && prop.Secret:
			if err := secrets.Add("input-"+name, secretBytes(v)); err != nil {
				return nil, fault.Wrap(fault.Input, err, "the secret input %s", name)
			}
		}
	}
	body, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	if in.json, err = digest.CanonicalJSON(body); err != nil {
		return nil, fault.Wrap(fault.Input, err, "the input")
	}
	return in, checkInput(p, in.json)
}

func checkInput(p *plan.Plan, input json.RawMessage) error {
	s, err := schema.Compile(p.Inputs)
	if err != nil {
		return fault.Wrap(fault.Input, err, "read the schema of the inputs")
	}
	if err := s.Check(input); err != nil {
		return fault.New(fault.Input, "the input is not what the plan takes: %v", err).WithHint("give it with --input NAME=VALUE; joy plan show lists the inputs")
	}
	return nil
}

// inputValues collects the raw values: the file first, single flags over it.
func (a *app) inputValues(props map[string]property, flags []string, file string) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	if file != "" {
		body, err := a.readInputFile(file)
		if err != nil {
			return nil, fault.Wrap(fault.Input, err, "read the input file").At(file, 0, 0)
		}
		if err := json.Unmarshal(body, &values); err != nil {
			return nil, fault.Wrap(fault.Input, err, "the input file is not a JSON object").At(file, 0, 0)
		}
	}
	for _, f := range flags {
		name, text, ok := strings.Cut(f, "=")
		if !ok || name == "" {
			return nil, fault.New(fault.Input, "--input %s is not NAME=VALUE", f).WithHint("--input name=value, or --input name=@FILE for a file")
		}
		v, err := typed(props[name], text)
		if err != nil {
			return nil, fault.Wrap(fault.Input, err, "--input %s", name)
		}
		values[name] = v
	}
	return values, nil
}

func (a *app) readInputFile(file string) ([]byte, error) {
	r := a.env.Stdin
	if file != "-" {
		f, err := os.Open(a.abs(file))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	body, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err == nil && len(body) > maxInput {
		err = fmt.Errorf("larger than %d MiB", maxInput>>20)
	}
	return body, err
}

// typed turns a flag's text into JSON by the schema's type: text is text unless the schema says otherwise.
func typed(p property, text string) (json.RawMessage, error) {
	kinds, _ := p.Type.([]any)
	if one, ok := p.Type.(string); ok {
		kinds = []any{one}
	}
	if len(kinds) == 0 || slices.Contains(kinds, "string") {
		return json.Marshal(text)
	}
	v := json.RawMessage(text)
	if !json.Valid(v) {
		return nil, fmt.Errorf("%q is not of type %v", text, p.Type)
	}
	return v, nil
}

// fileInput reads the value of a file input, which names a file of the user with @.
func fileInput(name string, v json.RawMessage, p *plan.Plan, take func(name, path string) (runner.FileInput, error)) (runner.FileInput, error) {
	var text string
	if err := json.Unmarshal(v, &text); err != nil || !strings.HasPrefix(text, "@") || len(text) == 1 {
		return runner.FileInput{}, fault.New(fault.Input, "input %s takes a file", name).WithHint("--input %s=@FILE", name)
	}
	f, err := take(name, text[1:])
	if err != nil {
		return f, fault.Wrap(fault.Input, err, "input %s", name)
	}
	f.Name = placeName(name, filepath.Base(text[1:]), p)
	return f, nil
}

// placeName is what a file input is called in /workspace/in: its own name in plain characters, with the input's name
// before it where that would be taken for something else that lies there.
func placeName(input, base string, p *plan.Plan) string {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
			return r
		}
		return '_'
	}, base)
	_, step := p.Step(plain)
	if step || plain == "input.json" || strings.HasPrefix(plain, ".") {
		return input + "-" + plain
	}
	return plain
}

// secretBytes is the value that must not appear anywhere: of a string its text.
func secretBytes(v json.RawMessage) []byte {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return []byte(s)
	}
	return bytes.TrimSpace(v)
}

// hashFile says what a file is without keeping it.
func (a *app) hashFile(_, path string) (runner.FileInput, error) {
	f, err := os.Open(a.abs(path))
	if err != nil {
		return runner.FileInput{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return runner.FileInput{}, errors.Join(err, fmt.Errorf("%s is not an ordinary file", path))
	}
	sum, size, err := digest.Reader(f)
	return runner.FileInput{Size: size, SHA256: strings.TrimPrefix(sum, "sha256:")}, err
}
