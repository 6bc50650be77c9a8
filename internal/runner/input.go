package runner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// input is a step's resolved input: the tree with files and symbols in it, and its JSON.
type input struct {
	tree  any
	json  []byte
	files map[string]FileInput // the file inputs it refers to
}

// resolve puts values in the place of the step's references.
func (r *run) resolve(s plan.Step, up map[string]*result) (*input, error) {
	in := &input{files: map[string]FileInput{}}
	tree, err := plan.Resolve(s.With, func(ref plan.Ref) (any, error) {
		switch ref.Root {
		case plan.RootInputs:
			return r.runInput(s, in, ref)
		case plan.RootOutput:
			res := up[ref.Step]
			if res == nil {
				return nil, fmt.Errorf("step %s has no output", ref.Step)
			}
			return res.Output, nil
		default:
			return artifactOf(up[ref.Step], ref)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the input of %s: %w", s.ID, err)
	}
	in.tree = tree
	if in.json, err = marshal(tree); err != nil {
		return nil, fmt.Errorf("the input of %s: %w", s.ID, err)
	}
	return in, nil
}

// runInput is the run's input as the step sees it: a file input is its path, and for an action the file itself.
func (r *run) runInput(s plan.Step, in *input, ref plan.Ref) (any, error) {
	tree, err := unmarshal(r.Input)
	if err != nil {
		return nil, err
	}
	top, _ := tree.(map[string]any)
	for name, f := range r.Files {
		if len(ref.Path) > 0 && ref.Path[0].Key != name {
			continue
		}
		in.files[name] = f
		top[name] = "/workspace/in/" + f.Name
		if s.Kind == plan.Action {
			top[name] = fileRef{f}
		}
	}
	return tree, nil
}

func artifactOf(res *result, ref plan.Ref) (any, error) {
	if res == nil {
		return nil, fmt.Errorf("step %s has left nothing", ref.Step)
	}
	if _, unknown := res.Output.(plan.Symbol); unknown {
		return plan.Symbol(ref.String()), nil
	}
	names := make([]string, 0, len(res.Artifacts))
	for _, a := range res.Artifacts {
		if a.Name == ref.Artifact {
			return plan.ArtifactRef{Step: ref.Step, Name: a.Name, SHA256: a.SHA256, Size: a.Size}, nil
		}
		names = append(names, a.Name)
	}
	switch {
	case slices.Contains(res.withheld, ref.Artifact):
		return nil, fault.New(fault.Policy, "%q of step %s was quarantined", ref.Artifact, ref.Step)
	case res.Partial != "":
		return nil, fault.New(fault.Platform, "%q is not among the files that were kept of step %s: %s", ref.Artifact, ref.Step, res.Partial)
	}
	return nil, fmt.Errorf("step %s left no %q in /workspace/out, but %q", ref.Step, ref.Artifact, names)
}

// inputFailure says whose failure it is that an input could not be made: the spec's, unless err says another.
func inputFailure(err error) *Failure {
	var e *fault.Error
	if errors.As(err, &e) {
		return &Failure{Kind: failureKind(e.Kind), Err: err}
	}
	return &Failure{Kind: fault.Input, Err: err}
}
