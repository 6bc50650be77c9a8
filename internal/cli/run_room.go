package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/queue"
	"github.com/joystream-ai/joy/internal/sandbox/e2b"
)

// queue is where this user's runs wait for each other.
func (a *app) queue() *queue.Queue {
	return &queue.Queue{Dir: filepath.Join(a.cfg.Dirs.State, "vms"), Scratch: os.TempDir(), MaxVMs: a.cfg.MaxVMs}
}

func needOf(p *plan.Plan) queue.Need {
	return queue.Need{Memory: int64(p.Policy.Memory), Disk: int64(p.Policy.Disk)}
}

// admit waits for room for the plan's VM and says on stderr what it waits for.
// A VM elsewhere needs none here.
func (a *app) admit(run string, p *plan.Plan) func(context.Context, func(string)) (func(), error) {
	if a.cfg.Sandbox == e2b.Name {
		return nil
	}
	return func(ctx context.Context, waiting func(string)) (func(), error) {
		return a.queue().Enter(ctx, run, needOf(p), func(reason string) {
			waiting(reason)
			a.say("waiting for a place: %s (Ctrl-C gives up)", reason)
		})
	}
}

// refuseTooLarge refuses a plan whose VM this machine never has room for: it would wait for good.
func (a *app) refuseTooLarge(t *target) error {
	if a.cfg.Sandbox == e2b.Name || !slices.ContainsFunc(t.plan.Steps, plan.Step.NeedsVM) {
		return nil
	}
	err := a.queue().Possible(needOf(t.plan))
	var never *queue.ErrNever
	if !errors.As(err, &never) {
		return err
	}
	e := fault.New(fault.Platform, "the plan does not fit this machine: %v", never)
	e.Code = "JOY-NO-ROOM"
	if line, col, ok := specPlace(filepath.Join(t.dir, build.SpecName), "policy", never.Of); ok && !t.kept {
		e = e.At(build.SpecName, line, col)
	}
	hint := "ask for less in joy.yaml, policy: {" + never.Of + ": …}, and run joy build"
	if never.Of == "disk" {
		hint += "; or let TMPDIR name a directory on a larger disk"
	}
	return e.WithHint("%s", hint)
}

// specPlace is where joy.yaml sets the value at the path of keys.
func specPlace(file string, keys ...string) (line, col int, ok bool) {
	data, err := ordinary.Read(file, maxSpecBytes)
	var doc yaml.Node
	if err != nil || yaml.Unmarshal(data, &doc) != nil || len(doc.Content) != 1 {
		return 0, 0, false
	}
	at := doc.Content[0]
	for _, key := range keys {
		var next *yaml.Node
		for i := 0; at.Kind == yaml.MappingNode && i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == key {
				next = at.Content[i+1]
			}
		}
		if next == nil {
			return 0, 0, false
		}
		at = next
	}
	return at.Line, at.Column, true
}

// maxSpecBytes is far above what agent.Parse accepts: the place of an error is worth no more reading.
const maxSpecBytes = 1 << 20
