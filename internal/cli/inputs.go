package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
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

// taking says how inputs are taken: what judges them, nil in a dry run, and what keeps the bytes of a file input and says what
// they are.
type taking struct {
	judge *entering
	keep  func(f *os.File) (runner.FileInput, error)
}

// readInputs reads --input and --input-file by the plan's schema. Values of inputs marked x-joy-secret are added to secrets,
// when all are judged.
func (a *app) readInputs(p *plan.Plan, flags []string, file string, secrets *secret.Set, take taking) (*inputs, error) {
	spec, err := readInputSpec(p.Inputs)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read the schema of the inputs")
	}
	values, err := a.inputValues(spec.props, flags, file)
	if err != nil {
		return nil, err
	}
	if err := spec.knows(values); err != nil {
		return nil, err
	}
	in := &inputs{files: map[string]runner.FileInput{}}
	places := map[string]bool{}
	var marked []string
	for _, name := range slices.Sorted(maps.Keys(spec.props)) {
		prop := spec.props[name]
		v, given := values[name]
		switch {
		case !given && len(prop.Default) > 0 && !prop.isFile():
			values[name] = prop.Default
		case given && prop.isFile() && prop.Secret:
			return nil, fault.New(fault.Input, "the input %s is a file, whose bytes are kept on record: it cannot be x-joy-secret", name)
		case given && prop.isFile():
			f, err := a.fileInput(name, v, p, take)
			if err != nil {
				return nil, err
			}
			for places[f.Name] {
				f.Name = name + "-" + f.Name
			}
			places[f.Name] = true
			in.files[name] = f
			values[name] = json.RawMessage(`"sha256:` + f.SHA256 + `"`)
		case given && prop.Secret:
			marked = append(marked, name)
		}
	}
	if err := take.judge.values(values, spec.props); err != nil {
		return nil, err
	}
	for _, name := range marked {
		if err := secrets.Add("input-"+name, secretBytes(values[name])); err != nil {
			return nil, fault.Wrap(fault.Input, err, "the secret input %s", name)
		}
	}
	body, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	if in.json, err = digest.CanonicalJSON(body); err != nil {
		return nil, fault.Wrap(fault.Input, err, "the input")
	}
	return in, checkInput(p, in.json, secrets)
}

// checkInput holds an input against the plan's schema. A schema's complaint quotes values: those of secrets are replaced.
func checkInput(p *plan.Plan, input json.RawMessage, secrets *secret.Set) error {
	s, err := schema.Compile(p.Inputs)
	if err != nil {
		return fault.Wrap(fault.Input, err, "read the schema of the inputs")
	}
	if err := s.Check(input); err != nil {
		why, _ := secrets.Redact([]byte(err.Error()))
		return fault.New(fault.Input, "the input is not what the plan takes: %s", why).WithHint("give it with --input NAME=VALUE; joy plan show lists the inputs")
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
		var wrong *json.UnmarshalTypeError
		if err := json.Unmarshal(body, &values); errors.As(err, &wrong) || err == nil && values == nil {
			return nil, fault.New(fault.Input, "the input file is not a JSON object").At(file, 0, 0)
		} else if err != nil {
			return nil, fault.Wrap(fault.Input, err, "the input file is not JSON").At(file, 0, 0)
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
		f, err := openNamed(a.abs(file))
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

// secretBytes is the value that must not appear anywhere: of a string its text.
func secretBytes(v json.RawMessage) []byte {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return []byte(s)
	}
	return bytes.TrimSpace(v)
}

// runCommand is what a person types next: the run of a plan with the inputs that it cannot do without. dir is as
// buildView has it.
func runCommand(p *plan.Plan, dir string) string {
	var spec struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	words := []string{"joy run" + dir}
	if json.Unmarshal(p.Inputs, &spec) != nil {
		return words[0]
	}
	for _, name := range spec.Required {
		value := "VALUE"
		if spec.Properties[name].isFile() {
			value = "@FILE"
		}
		words = append(words, "--input "+name+"="+value)
	}
	return strings.Join(words, " ")
}
