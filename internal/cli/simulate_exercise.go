package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/replay"
	"github.com/joystream-ai/joy/internal/secret"
)

// exercise runs a plan with its scripts in a real VM, and answers models and actions from a record or from the fixtures of
// joy.yaml. What is asked and not answered there is an error with the place of the difference.
func (a *app) exercise(ctx context.Context, arg string, o runOptions) error {
	t, err := a.loadTarget(arg)
	if err != nil {
		return err
	}
	rec, err := a.openRecord(t)
	if err != nil {
		return err
	}
	defer rec.close()
	if err := t.checkDrift(rec.keepBundleFile); err != nil {
		return err
	}
	was := &pastRun{record: &replay.Record{}}
	if o.record != "" {
		if was, err = a.openPast(o.record, rec); err != nil {
			return err
		}
	}
	prepared, err := a.exercising(t, was, o.record)
	if err != nil {
		return err
	}
	prepared.secrets, prepared.lockFile = secret.NewScrubber(), a.lockFile(arg)
	judge := &entering{ctx: ctx, plan: t.plan, known: prepared.secrets, warn: a.warn}
	in, err := a.exerciseInputs(t, was, rec, o, judge)
	if err != nil {
		return err
	}
	out, err := a.again(ctx, rec, was, t, in, prepared)
	if err != nil {
		return err
	}
	if was.target != nil {
		if err := a.sayExercise(rec, was, out); err != nil {
			return err
		}
	}
	return a.reportRun(ctx, rec, out)
}

// exerciseInputs are those of the command line, or, when it gives none, those on record.
func (a *app) exerciseInputs(t *target, was *pastRun, rec *record, o runOptions, judge *entering) (*inputs, error) {
	if was.target != nil && len(o.inputs) == 0 && o.inputFile == "" {
		in := was.inputs(rec)
		return in, checkInput(t.plan, in.json, judge.known)
	}
	return a.readInputs(t.plan, o.inputs, o.inputFile, judge.known, taking{judge, rec.keepFile})
}

// exercising finds what answers: the record when one is given, else the fixtures.
func (a *app) exercising(t *target, was *pastRun, record string) (*standIn, error) {
	s := &standIn{trigger: "exercise", of: was.record.Run, answers: was.record.Call}
	if record != "" {
		s.model = was.askedModel()
		return s, nil
	}
	if hasModelStep(t.plan) {
		return nil, fault.New(fault.Input, "the plan has a step for a model, which fixtures cannot answer").
			WithHint("joy simulate --exercise --record FILE, of a run that joy ledger export --format replay has kept")
	}
	fixed, err := fixtures(t)
	if err != nil {
		return nil, err
	}
	s.answers = func(_ context.Context, step, action string, _ json.RawMessage) (connection.Result, error) {
		result, ok := fixed[action]
		if !ok {
			return connection.Result{}, fault.New(fault.Input, "step %s calls %s, which has no fixture", step, action).
				WithHint("fixtures: {%s: testdata/answer.json} in joy.yaml", action)
		}
		return result, nil
	}
	return s, nil
}

// fixtures are the answers that joy.yaml names for actions: a file is a tool's whole result when it has content or
// structuredContent, else what is structured in one.
func fixtures(t *target) (map[string]connection.Result, error) {
	list := map[string]connection.Result{}
	text, err := ordinary.Read(filepath.Join(t.dir, build.SpecName), plan.MaxBytes)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read joy.yaml, which names the fixtures")
	}
	spec, err := agent.Parse(text, build.SpecName)
	if err != nil {
		return nil, err
	}
	root, err := ordinary.OpenRoot(t.dir)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "open the project")
	}
	defer root.Close()
	for action, file := range spec.Fixtures {
		body, err := ordinary.ReadIn(root, filepath.FromSlash(file.Value), maxFixture)
		if err == nil {
			list[action], err = asResult(body)
		}
		if err != nil {
			return nil, fault.Wrap(fault.Input, err, "the fixture of %s, %s", action, file.Value).At(build.SpecName, file.Line, file.Col)
		}
	}
	return list, nil
}

// maxFixture bounds a fixture as the answer of a server is, in bytes.
const maxFixture = connection.MaxMessage

// asResult is a fixture as the tool would have returned it.
func asResult(body []byte) (connection.Result, error) {
	var whole struct {
		Content           []json.RawMessage `json:"content"`
		StructuredContent json.RawMessage   `json:"structuredContent"`
		IsError           bool              `json:"isError"`
	}
	if !utf8.Valid(body) {
		return connection.Result{}, errors.New("it is not valid UTF-8")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err != nil {
		return connection.Result{}, err
	}
	if json.Unmarshal(body, &whole) == nil && (whole.Content != nil || whole.StructuredContent != nil) {
		return connection.Result{Raw: compact.Bytes(), IsError: whole.IsError}, nil
	}
	quoted, err := json.Marshal(compact.String())
	if err != nil {
		return connection.Result{}, err
	}
	return connection.Result{Raw: json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}]}`)}, nil
}
