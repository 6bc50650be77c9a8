package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/skill"
)

// readSpec fills the plan from joy.yaml, or from the one bundle when there is no joy.yaml.
func (b *builder) readSpec(ctx context.Context) error {
	data, err := b.readFile(SpecName, agent.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b.single(ctx)
	case err != nil:
		return err
	}
	if b.spec, err = agent.Parse(data, SpecName); err != nil {
		return err
	}
	b.text = data
	dirs, err := b.expand(b.spec.Skills)
	if err != nil {
		return err
	}
	if err := b.load(ctx, dirs); err != nil {
		return err
	}
	s := b.spec
	// The mode of joy.yaml means nothing, and not every file system has one.
	pin := plan.File(digest.Pin(SpecName, digest.ModePlain, data, false).File)
	b.plan.Agent = plan.Agent{Name: s.Name, Workspace: s.Workspace, Description: s.Description, Spec: pin}
	b.plan.Policy = s.Policy
	b.plan.Policy.Egress = slices.Sorted(slices.Values(s.Policy.Egress))
	if s.Inputs != nil {
		b.plan.Inputs = s.Inputs.JSON
	}
	for _, t := range s.Triggers {
		b.plan.Triggers = append(b.plan.Triggers, plan.Trigger(t))
	}
	if m := s.Model; m != nil {
		b.plan.Model = &plan.Model{
			Provider: m.Provider, Name: m.Name, BaseURL: m.BaseURL, Key: m.Key,
			MaxTurns: m.MaxTurns, MaxTokens: m.MaxTokens, MaxCost: m.MaxCost,
		}
	}
	for _, a := range s.Allow {
		b.plan.Allow = append(b.plan.Allow, plan.Allow{Rule: a.Rule, File: a.File, Reason: a.Reason})
	}
	return nil
}

// single makes an agent of one bundle: its name and description are the bundle's, it has one step, and an instruction
// skill that says nothing of its input takes a task.
func (b *builder) single(ctx context.Context) error {
	if !b.hasSkill(".") {
		e := fault.New(fault.Input, "there is neither a joy.yaml nor a SKILL.md here").At(b.o.Dir, 0, 0)
		e.Code = Code
		if _, err := fs.Stat(b.fsys, "joy.yml"); err == nil {
			return e.WithHint("rename joy.yml to joy.yaml")
		}
		return e.WithHint("joy init DIR scaffolds an agent; joy skill new NAME a bundle")
	}
	if err := b.load(ctx, []source{{dir: "."}}); err != nil {
		return err
	}
	s := &b.bundles[0]
	b.spec.Image = agent.Text{Value: "base"}
	b.spec.Name = slug(s.pin.Name)
	b.plan.Agent = plan.Agent{Name: b.spec.Name, Workspace: agent.DefaultWorkspace, Description: s.description}
	b.plan.Policy = policy.Default()
	b.plan.Inputs = s.pin.InputSchema
	if s.entry == nil && s.pin.InputSchema == nil {
		b.plan.Inputs = json.RawMessage(`{"properties":{"task":{"description":"what the skill is to do","type":"string"}},"required":["task"],"type":"object"}`)
	}
	return nil
}

// readFile reads a regular file of the project, whole. The error wraps fs.ErrNotExist when it is not there.
func (b *builder) readFile(name string, limit int64) ([]byte, error) {
	bad := func(err error) *fault.Error {
		e := fault.Wrap(fault.Input, err, "read a file of the project").At(name, 0, 0)
		e.Code = Code
		return e
	}
	info, err := fs.Lstat(b.fsys, name)
	if err != nil {
		return nil, bad(err)
	}
	if !info.Mode().IsRegular() {
		return nil, bad(errors.New("it is not a regular file")).WithHint("put the file itself there, not a link")
	}
	f, err := b.fsys.Open(name)
	if err != nil {
		return nil, bad(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, bad(err)
	}
	if int64(len(data)) > limit {
		return nil, bad(fmt.Errorf("it is larger than %d bytes", limit))
	}
	return data, nil
}

func (b *builder) hasSkill(dir string) bool {
	entries, err := ordinary.ReadDir(b.fsys, dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if digest.IsSkillFile(e.Name()) {
			return true
		}
	}
	return false
}

// slug is a name as the id of a step or agent: what an id cannot hold becomes a hyphen. "" when nothing is left.
func slug(name string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(id[:min(len(id), skill.MaxName)], "-")
}
