package skill

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/joystream-ai/joy/internal/fault"
)

// Rules of findings about how a bundle is written. Rules of determinations are in the table in rules.go.
const (
	RuleSkillFile     = "JOY-SKILL-FILE"    // no SKILL.md, or one under another spelling
	RuleFrontMatter   = "JOY-FRONT-MATTER"  // where the front matter begins and ends
	RuleYAML          = "JOY-YAML"          // what stands in it is not the YAML it should be
	RuleField         = "JOY-FIELD"         // a field the spec does not know, or one of a wrong type
	RuleName          = "JOY-NAME"          // name
	RuleDescription   = "JOY-DESCRIPTION"   // description
	RuleCompatibility = "JOY-COMPATIBILITY" // compatibility
	RuleEntry         = "JOY-ENTRY"         // the declared entry point
	RuleSchema        = "JOY-SCHEMA"        // input_schema, output_schema
	RuleLineEnds      = "JOY-CRLF"          // a file was taken with LF in place of CRLF
	RuleNested        = "JOY-NESTED"        // a bundle inside the bundle
)

// place is a position in SKILL.md, both 1-based; zero is unknown.
type place struct{ line, col int }

// report collects what is found while SKILL.md is read.
type report struct {
	file       string // SKILL.md as the user sees it
	strict     bool
	findings   []Finding
	violations []*fault.Error // what is an error under Strict only
	errors     []*fault.Error
}

func (r *report) add(severity, rule, file string, p place, msg string) {
	if p.col > 0 {
		msg = fmt.Sprintf("%s (column %d)", msg, p.col)
	}
	r.findings = append(r.findings, Finding{Rule: rule, Severity: severity, File: file, Line: p.line, Message: msg})
}

func (r *report) note(rule, file, format string, args ...any) {
	r.add(SeverityNote, rule, file, place{}, fmt.Sprintf(format, args...))
}

func (r *report) warn(rule string, p place, format string, args ...any) {
	r.add(SeverityWarning, rule, r.file, p, fmt.Sprintf(format, args...))
}

// fail records what makes the bundle unusable.
func (r *report) fail(rule string, p place, hint, format string, args ...any) {
	r.errors = append(r.errors, fail(rule, r.file, p, hint, format, args...))
}

// violation records what the reference validator refuses and joy reads with a warning.
func (r *report) violation(rule string, p place, format string, args ...any) {
	r.quiet(rule, p, format, args...)
	r.warn(rule, p, format, args...)
}

// quiet records what the reference validator refuses and half of all bundles do: no warning outside Strict.
func (r *report) quiet(rule string, p place, format string, args ...any) {
	r.violations = append(r.violations, fail(rule, r.file, p, "", format, args...))
}

// err joins the errors, with Strict the violations too; nil when there are none.
func (r *report) err() error {
	all := r.errors
	if r.strict {
		all = append(slices.Clone(all), r.violations...)
	}
	slices.SortStableFunc(all, func(a, b *fault.Error) int { return cmp.Compare(a.Line, b.Line) })
	joined := make([]error, len(all))
	for i, f := range all {
		joined[i] = f
	}
	return errors.Join(joined...)
}

func (r *report) sorted() (findings, violations []Finding) {
	for _, v := range r.violations {
		violations = append(violations, Finding{Rule: v.Code, Severity: SeverityError, File: v.File, Line: v.Line, Message: v.Msg})
	}
	order := func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	}
	slices.SortStableFunc(r.findings, order)
	slices.SortStableFunc(violations, order)
	return r.findings, violations
}
