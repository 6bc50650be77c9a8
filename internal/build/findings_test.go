package build

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
)

// judge runs the findings of one bundle through allow.
func judge(strict bool, allow []plan.Allow, findings ...plan.Finding) *builder {
	b := &builder{o: Options{Strict: strict}, spec: &agent.Spec{}, plan: &plan.Plan{Allow: allow}, used: map[int]bool{}}
	b.bundles = []bundle{{pin: plan.Skill{Name: "a"}, skillFile: "skills/a/SKILL.md"}}
	b.plan.Skills = []plan.Skill{{Name: "a", Findings: findings}}
	b.findings()
	return b
}

func TestErrorsNeedAllow(t *testing.T) {
	bad := plan.Finding{Rule: "JOY-BLOB", Severity: skill.SeverityError, File: "skills/a/SKILL.md", Line: 7, Message: "a blob goes to a shell"}
	b := judge(false, nil, bad)
	require.Len(t, b.errs, 1)
	f := fault.All(b.errs[0])[0]
	require.Equal(t, "skills/a/SKILL.md:7", f.Place())
	require.Equal(t, "JOY-BLOB", f.Code)
	require.Contains(t, f.Hint, "allow: [{rule: JOY-BLOB, file: skills/a/SKILL.md")

	for _, other := range []plan.Allow{
		{Rule: "JOY-BLOB", File: "skills/b/SKILL.md", Reason: "r"},
		{Rule: "JOY-OTHER", File: "skills/a/SKILL.md", Reason: "r"},
	} {
		b = judge(false, []plan.Allow{other}, bad)
		require.Len(t, b.errs, 1)
		require.Contains(t, b.notes[0], "accepts nothing")
	}
	b = judge(false, []plan.Allow{{Rule: "JOY-BLOB", File: "skills/a/SKILL.md", Reason: "r"}}, bad)
	require.Empty(t, b.errs)
	require.Empty(t, b.open)
	require.Len(t, b.plan.Skills[0].Findings, 1, "what is allowed stays on record")
}

func TestWarningsFailOnlyWhenStrict(t *testing.T) {
	warning := plan.Finding{Rule: "JOY-CURL-SH", Severity: skill.SeverityWarning, File: "x", Message: "m"}
	note := plan.Finding{Rule: "JOY-CRLF", Severity: skill.SeverityNote, File: "x", Message: "m"}
	b := judge(false, nil, warning, note)
	require.Empty(t, b.errs)
	require.Len(t, b.open, 2)
	b = judge(true, nil, warning, note)
	require.Len(t, b.errs, 1)
}

func TestStrictReadsBundlesAsTheReferenceDoes(t *testing.T) {
	fsys := project("-- joy.yaml --\nversion: 1\nname: a\nskills: [s]\n-- s/SKILL.md --\n---\nname: other\ndescription: d\n---\n")
	build(t, fsys)
	_, err := Build(context.Background(), Options{FS: fsys, Strict: true})
	require.ErrorContains(t, err, "not the name of its directory")
}
