package build

import (
	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret/rules"
	"github.com/joystream-ai/joy/internal/skill"
)

// secrets judges what has the shape of a credential in joy.yaml: in its text, and in what its strings say once they are read,
// whose spelling may hide it. Of bundles, skill.Load has told.
func (b *builder) secrets() {
	find := rules.Default().Finder()
	told := map[string]bool{}
	for _, s := range b.secretsIn(b.spec.File, b.text) {
		told[s.Rule] = true
	}
	var values []agent.Value
	if b.spec.Inputs != nil {
		values = append(values, *b.spec.Inputs)
	}
	for _, s := range b.spec.Steps {
		values = append(values, s.With)
		for _, g := range s.Tools {
			values = append(values, g.With)
		}
	}
	for _, v := range values {
		for _, t := range v.Strings {
			for _, s := range skill.Secrets(find, []byte(t.Value)) {
				if !told[s.Rule] {
					told[s.Rule] = true
					s.Line, s.Col = t.Line, t.Col
					b.secret(b.spec.File, s)
				}
			}
		}
	}
}

// secretsIn judges the text of one file of the project.
func (b *builder) secretsIn(file string, text []byte) []skill.Secret {
	list := skill.Secrets(rules.Default().Finder(), text)
	for _, s := range list {
		b.secret(file, s)
	}
	return list
}

func (b *builder) secret(file string, s skill.Secret) {
	b.judge(plan.Finding{
		Rule: skill.RuleSecret, By: s.Rule, Severity: skill.SeverityError, File: file, Line: s.Line, Col: s.Col, Message: s.Says(),
	})
}
