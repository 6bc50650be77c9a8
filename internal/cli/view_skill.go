package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/term"
)

// showSkill prints one bundle as soon as it was read: there may be thousands.
func (a *app) showSkill(doc skillJSON) error {
	a.annotateFindings(doc.Findings)
	if a.json {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(doc); err != nil {
			return err
		}
		_, err := a.out.raw.Write(term.JSON(b.Bytes())) // a line of a stream
		return err
	}
	verdict := a.out.good.Render("valid")
	switch {
	case !doc.Valid:
		verdict = a.out.fail.Render("not valid")
	case !doc.StrictValid:
		verdict += ", not to the letter of the spec"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", a.out.bold.Render(a.line(doc.Path)), verdict)
	if doc.Name != "" {
		fmt.Fprintf(&b, "  needs %s\n", a.line(doc.Needs.String()))
	}
	if e := doc.Entry; e != nil {
		fmt.Fprintf(&b, "  starts %s\n", a.line(strings.Join(append(e.Argv, e.Path), " ")))
	}
	for _, c := range doc.Candidates {
		if doc.Entry == nil {
			fmt.Fprintf(&b, "  could start %s; declare it with metadata: joy.entry\n", a.line(c.File))
		}
	}
	for _, f := range doc.Findings {
		if f.Severity == "note" && a.verbose == 0 {
			continue
		}
		where := f.File
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		style := a.out.warn
		if f.Severity == "error" {
			style = a.out.fail
		}
		fmt.Fprintf(&b, "  %s %s\n", style.Render(f.Severity+":"), a.line(fmt.Sprintf("%s (%s, %s)", f.Message, where, f.Rule)))
	}
	for _, e := range doc.Evidence {
		if a.verbose > 0 {
			fmt.Fprintf(&b, "  evidence: %s\n", a.line(fmt.Sprintf("%s (%s:%d, %s)", e.Detail, e.File, e.Line, e.Rule)))
		}
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}

func (n skillNeeds) String() string {
	var parts []string
	switch {
	case n.Unsure:
		parts = append(parts, "a sandbox (not settled)")
	case n.Sandbox:
		parts = append(parts, "a sandbox")
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"tools of", n.Tools}, {"network", n.Network}, {"programs", n.Programs}, {"secrets", n.Secrets}} {
		if len(list.names) > 0 {
			parts = append(parts, list.what+" "+strings.Join(list.names, ", "))
		}
	}
	if len(parts) == 0 {
		return "nothing but a model"
	}
	return strings.Join(parts, "; ")
}

func (a *app) endSkillCheck(all, bad int, failOn string) error {
	if a.json {
		if bad > 0 {
			return exit(exitCodeOf(fault.Input))
		}
		return nil
	}
	if bad > 0 {
		e := fault.New(fault.Input, "%s of %d with findings of severity %s", count(bad, "bundle"), all, failOn)
		e.Code = "JOY-SKILL"
		return e
	}
	err := a.out.Printf("%s checked", count(all, "bundle"))
	return err
}
