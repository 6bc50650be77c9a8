package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/term"
)

// inActions reports a run of GitHub Actions, where lines of a certain form are commands to the runner
// (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands).
func (a *app) inActions() bool {
	on, _ := a.env.LookupEnv("GITHUB_ACTIONS")
	return on == "true"
}

var (
	commandText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotate shows a fault in the files of a pull request. Elsewhere, and where JSON was asked for, it says nothing.
func (a *app) annotate(level string, e *fault.Error) {
	if !a.inActions() || a.json {
		return
	}
	var where []string
	add := func(key, value string) {
		if value != "" && value != "0" {
			where = append(where, key+"="+commandProperty.Replace(value))
		}
	}
	if e.File != "" {
		add("file", a.inRepo(e.File))
	}
	add("line", fmt.Sprint(e.Line))
	add("col", fmt.Sprint(e.Col))
	add("title", e.Code)
	msg := e.Msg
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	if e.Hint != "" {
		msg += "; " + e.Hint
	}
	a.tell("::%s %s::%s", level, strings.Join(where, ","), commandText.Replace(msg))
}

// annotateFindings shows what a person should know of bundles; notes are left out, as they are on a terminal.
func (a *app) annotateFindings(findings []plan.Finding) {
	for _, f := range findings {
		if f.Severity == "note" {
			continue
		}
		e := fault.New(fault.Input, "%s", f.Message).At(f.File, f.Line, f.Col)
		e.Code = f.Rule
		a.annotate(f.Severity, e)
	}
}

// inRepo is a file as a service that has the repository knows it: relative to the checkout of GitHub Actions when it
// lies there, else to where joy works.
func (a *app) inRepo(file string) string {
	bases := []string{a.dir}
	if workspace, ok := a.env.LookupEnv("GITHUB_WORKSPACE"); ok && a.inActions() {
		bases = []string{workspace, a.dir}
	}
	for _, base := range bases {
		if rel, err := filepath.Rel(base, a.abs(filepath.FromSlash(file))); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return file
}

// line makes text of strangers fit to print on a line for people: what a terminal would act on is made visible, and so
// is the older form of command, which a runner obeys anywhere in a line.
func (a *app) line(s string) string {
	s = term.Line(s)
	if a.inActions() {
		s = strings.ReplaceAll(s, "##[", "## [")
	}
	return s
}
