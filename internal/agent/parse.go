package agent

import (
	"cmp"
	"errors"
	"regexp"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/policy"
)

// Code is the code of every error of this package.
const Code = "JOY-YAML"

// maxErrors is how many errors of a file are told at once.
const maxErrors = 20

// Version is the version of the grammar that Parse reads.
const Version = 1

var (
	nameRule    = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	actionRule  = regexp.MustCompile(`^[a-z0-9-]{1,64}\.[A-Za-z0-9_./-]{1,128}$`)
	secretRule  = regexp.MustCompile(`^secret:[A-Za-z0-9_-]{1,64}$`)
	imageRule   = regexp.MustCompile(`^(tiny|base|full|sha256:[0-9a-f]{64})$`)
	envRule     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	ruleRule    = regexp.MustCompile(`^(?:JOY-[A-Z0-9-]{1,60}|[a-z0-9][a-z0-9-]{1,60})$`)
	templRule   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./:-]{0,127}$`)
	nameWords   = "1 to 64 of a-z, 0-9 and -"
	secretWords = "a secret is named, never written: secret:NAME"
)

// Parse reads a joy.yaml. file names it in errors, as the user would. The error joins *fault.Error values of kind
// Input, each with its place, in the order of the file; at most 20 are told.
func Parse(data []byte, file string) (*Spec, error) {
	r := &reader{file: file, bare: map[*fault.Error]string{}}
	root := r.document(data)
	if root != nil {
		r.shape(root, 1)
	}
	if r.count > 0 {
		return nil, r.err()
	}
	s := &Spec{File: file, Workspace: DefaultWorkspace, Policy: policy.Default(), Image: Text{Value: "base"}}
	r.spec(root, s)
	if r.count > 0 {
		return nil, r.err()
	}
	return s, nil
}

func (r *reader) err() error {
	slices.SortStableFunc(r.errs, func(a, b *fault.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	all := make([]error, 0, len(r.errs)+1)
	for _, e := range r.errs {
		all = append(all, e)
	}
	if more := r.count - len(r.errs); more > 0 {
		e := fault.New(fault.Input, "%d more errors; mend these first", more).At(r.file, 0, 0)
		e.Code = Code
		all = append(all, e)
	}
	return errors.Join(all...)
}

func (r *reader) spec(root *yaml.Node, s *Spec) {
	declared := map[string]bool{}
	fields := []field{
		{"version", true, func(n *yaml.Node) { r.version(n) }},
		{"name", true, func(n *yaml.Node) { s.Name = r.matching(n, "name", nameRule, nameWords).Value }},
		{"description", false, func(n *yaml.Node) { s.Description = r.string(n, "description").Value }},
		{"workspace", false, func(n *yaml.Node) { s.Workspace = r.matching(n, "workspace", nameRule, nameWords).Value }},
		{"inputs", false, func(n *yaml.Node) { v := r.mapping(n, "inputs"); s.Inputs = &v }},
		{"triggers", false, func(n *yaml.Node) { s.Triggers = r.triggers(n) }},
		{"model", false, func(n *yaml.Node) { s.Model = r.model(n) }},
		{"skills", false, func(n *yaml.Node) { s.Skills = r.skills(n) }},
		{"connections", false, func(n *yaml.Node) { s.Connections = r.connections(n) }},
		{"setup", false, func(n *yaml.Node) { s.Setup = r.setup(n) }},
		{"steps", false, func(n *yaml.Node) { s.Steps = r.steps(n) }},
		{"image", false, func(n *yaml.Node) {
			s.Image = r.matching(n, "image", imageRule, "it is tiny, base, full or sha256: and 64 hex digits")
		}},
		{"e2b_template", false, func(n *yaml.Node) {
			s.E2BTemplate = r.matching(n, "e2b_template", templRule, "it is the name or id of a template").Value
		}},
		{"policy", false, func(n *yaml.Node) { r.policy(n, &s.Policy) }},
		{"allow", false, func(n *yaml.Node) { s.Allow = r.allow(n) }},
		{"fixtures", false, func(n *yaml.Node) { s.Fixtures = r.fixtures(n) }},
	}
	for i := range fields {
		key, read := fields[i].key, fields[i].read
		fields[i].read = func(n *yaml.Node) { declared[key] = true; read(n) }
	}
	r.object(root, "joy.yaml", fields)
	if r.count == 0 && !declared["skills"] && !declared["steps"] {
		r.fail(root, "nothing to run: there are neither skills nor steps").WithHint("skills: [skills/NAME]")
	}
	r.narrow(s)
	r.named(s)
}

func (r *reader) version(n *yaml.Node) {
	switch {
	case n.ShortTag() != "!!int":
		r.fail(n, "version must be %d, not %s", Version, kind(n))
	case n.Value != "1":
		r.fail(n, "version %s is not known to this joy", n.Value).WithHint("version: %d", Version)
	}
}
