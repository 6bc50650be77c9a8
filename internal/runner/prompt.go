package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/secret"
)

// Prompting is who works the model steps of a run, and what they may spend in all.
type Prompting struct {
	Model     model.Model
	Provider  string // as the ledger calls it
	Name      string
	MaxTurns  int     // of one step
	MaxTokens int64   // of the run
	MaxCost   float64 // of the run, in US dollars; 0: not bounded, as when there is no Price
	Price     *model.Price
	// Expect is asked about the request of each turn, scrubbed, before it is recorded; its error ends the step. May be nil.
	Expect func(step string, turn int, request []byte) error
}

// prompt works an instruction skill: the model's loop is here, on the host. A step without the VM has no primitives.
func (r *run) prompt(runCtx context.Context, s plan.Step, skill plan.Skill, in *input, up map[string]*result, res *result) *Failure {
	if r.Model.Model == nil {
		return &Failure{Kind: fault.Input, Err: fmt.Errorf("step %s is worked by a model, and the run has none", s.ID)}
	}
	if !s.NeedsVM() {
		ctx, cancel := limited(runCtx, s)
		defer cancel()
		ctx, end := context.WithCancelCause(ctx)
		defer end(nil)
		return r.talk(ctx, &talk{run: r, step: s, skill: skill, up: up, res: res}, in)
	}
	return r.inVM(runCtx, s, func(ctx context.Context, sb sandbox.Sandbox, token string) *Failure {
		env, _ := environment(s, in, token)
		w, err := r.world(ctx, sb, s, skill, in, up, env)
		if err != nil {
			return r.failureOf(ctx, s, err)
		}
		defer func() { _ = r.leave(w) }()
		t := &talk{run: r, step: s, skill: skill, up: up, res: res, world: w, last: &command{}, given: in}
		f := r.talk(ctx, t, in)
		if f == nil || !errors.Is(f.Err, sandbox.ErrLost) {
			if cf := r.collect(runCtx, w, s, t.last, res); f == nil {
				f = cf
			}
		}
		return f
	})
}

// talk holds the conversation of a step to its end. A call that was denied, and a last script that failed, fail the step
// whatever the model says of them.
func (r *run) talk(ctx context.Context, t *talk, in *input) *Failure {
	out, err := t.hold(ctx, in)
	var f *Failure
	if err != nil {
		f = r.callFailure(ctx, t.step, err)
	} else if t.failed != nil {
		f = &Failure{Kind: fault.Agent, Err: fmt.Errorf("the model ended the step after a script that failed: %w", t.failed)}
	}
	t.res.Output = out
	return r.denied(t.step, f)
}

// talk is one step's conversation with the model, and the state of what the model does in it.
type talk struct {
	run    *run
	step   plan.Step
	skill  plan.Skill
	up     map[string]*result
	res    *result
	world  sandbox.World // nil: the step has no VM
	tools  []tool
	asked  *secret.Growing // the requests so far
	last   *command        // the last script that was begun
	failed error           // how that script failed
	ran    int             // scripts so far
	before model.Usage     // of the turn before
	given  *input          // what the first script's entry has to name; nil: it was named
}

// hold is the loop: the model speaks, what it asks for is done, until it gives an answer that holds.
func (t *talk) hold(ctx context.Context, in *input) (any, error) {
	r := t.run
	tools, err := t.offer()
	if err != nil {
		return nil, err
	}
	t.tools = tools
	task := model.Task{System: r.words(t.system()), Answer: t.skill.OutputSchema}
	for _, tool := range tools {
		task.Tools = append(task.Tools, tool.Tool)
	}
	said, err := t.opening(in)
	if err != nil {
		return nil, err
	}
	conv, corrected := r.Model.Model.Begin(task), false
	t.asked = r.Secrets.Growing()
	say := model.Turn{Text: said}
	for n := 1; ; n++ {
		if n > r.Model.MaxTurns {
			return nil, fault.New(fault.Agent, "the model has given no answer in %d turns", r.Model.MaxTurns).WithHint("raise model.max_turns, or say in SKILL.md when the work is done")
		}
		reply, err := t.say(ctx, conv, n, say)
		if err != nil {
			return nil, err
		}
		switch reply.Stop {
		case model.Calls:
			if say, err = t.answerCalls(ctx, reply.Calls); err != nil {
				return nil, err
			}
		case model.End:
			out, why := t.answer(reply.Text)
			if why == nil {
				return out, nil
			}
			if corrected {
				return nil, fault.Wrap(fault.Agent, why, "the model's answer, which it was asked to correct, still does not hold")
			}
			corrected = true
			say = model.Turn{Text: "That answer does not hold: " + r.words(why.Error()) + "\nAnswer again, with nothing but JSON that matches the schema."}
		case model.Length:
			return nil, fault.New(fault.Agent, "the model's answer was cut off at %d tokens", reply.Usage.Out)
		case model.Refusal:
			return nil, fault.New(fault.Agent, "the model declined: %s", quoted([]byte(reply.Text)))
		}
	}
}

// answer reads the model's last words: JSON that matches the schema when there is one, else text.
func (t *talk) answer(text string) (any, error) {
	if len(t.skill.OutputSchema) == 0 {
		return text, nil
	}
	out, err := oneJSON(unfenced([]byte(text)))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON (%w): %s", err, quoted([]byte(text)))
	}
	return out, checkSchema(t.skill.OutputSchema, out, "it", "the skill")
}

// took is how long something has lasted.
func (r *run) took(begun time.Time) int64 { return r.Now().Sub(begun).Milliseconds() }
