package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/term"
)

// Rules of a difference between a lock and a build: of a file's bytes, and of anything else.
const (
	ruleDrift = "JOY-DRIFT"
	ruleStale = "JOY-STALE"
)

// buildCheckJSON is the report of joy build --check.
type buildCheckJSON struct {
	Schema   string         `json:"schema"`
	Lock     string         `json:"lock"`
	Stale    bool           `json:"stale"`
	Changes  []plan.Change  `json:"changes"`
	Findings []plan.Finding `json:"findings"`
	Notes    []string       `json:"notes"`
	Outside  int            `json:"outside_pins"`     // not resolved again
	Errors   []errorJSON    `json:"errors,omitempty"` // why nothing could be compared
}

// buildCheck writes no lock. It exits 3 with the list of what differs. A report that was asked for is written whatever
// comes out: a CI that uploads it must not find the one of yesterday.
func (a *app) buildCheck(ctx context.Context, arg string, o buildOptions) error {
	p, err := a.project(arg)
	if err != nil {
		return err
	}
	format := strings.TrimPrefix(path.Ext(o.out), ".")
	if o.out != "" && format != "json" && format != "sarif" {
		return usage(fmt.Errorf("-o %s: a report is .json or .sarif", o.out), "joy build --check -o report.sarif")
	}
	doc := buildCheckJSON{Schema: "joy.build-check/1", Lock: p.lockName, Changes: []plan.Change{}, Findings: []plan.Finding{}, Notes: []string{}}
	rep, failed := a.compareLock(ctx, p, arg, o.strict)
	if failed == nil {
		doc.Changes, doc.Notes, doc.Outside = placedChanges(p, rep.Changes), notNil(rep.Notes), rep.Outside
		doc.Findings = p.placed(rep.Result.Findings)
	}
	for _, e := range fault.All(failed) {
		doc.Errors = append(doc.Errors, errorJSONOf(e))
		a.annotate("error", e)
	}
	doc.Stale = failed != nil || len(doc.Changes) > 0
	if o.out != "" {
		data, err := a.encodeReport(format, doc, doc.problems())
		if err != nil {
			return err
		}
		if err := a.writeReport(o.out, data); err != nil {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	return a.showCheck(arg, doc)
}

// compareLock builds and compares. Errors have their places as the person at the terminal knows them.
func (a *app) compareLock(ctx context.Context, p project, arg string, strict bool) (*build.Report, error) {
	lock, err := ordinary.Read(p.lockPath, plan.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		e := fault.New(fault.Drift, "there is no %s", p.lockName).At(p.lockName, 0, 0).WithHint("%s", strings.TrimSpace("joy build "+arg))
		e.Code = "JOY-NO-LOCK"
		return nil, e
	} else if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read the lock").At(p.lockName, 0, 0)
	}
	rep, err := build.Check(ctx, lock, p.lockName, build.Options{Dir: p.dir, Strict: strict})
	for _, e := range fault.All(err) {
		if e.File != p.lockName {
			e.File = p.place(e.File)
		}
	}
	return rep, err
}

// placedChanges is changes with files where the person is.
func placedChanges(p project, in []plan.Change) []plan.Change {
	out := notNil(in)
	for i := range out {
		if out[i].File != "" {
			out[i].File = p.place(out[i].File)
		}
	}
	return out
}

// drift is the fault of one change, at the file that changed or else at the lock.
func (doc buildCheckJSON) drift(c plan.Change) *fault.Error {
	e := fault.New(fault.Drift, "%s", c).At(doc.Lock, 0, 0)
	e.Code = ruleStale
	if c.File != "" {
		e.File, e.Code = c.File, ruleDrift
	}
	return e
}

func (doc buildCheckJSON) problems() []problem {
	var out []problem
	for _, e := range doc.Errors {
		out = append(out, problem{rule: e.Code, level: "error", file: e.File, line: e.Line, col: e.Col, text: e.Message, key: e.Message})
	}
	for _, c := range doc.Changes {
		e := doc.drift(c)
		out = append(out, problem{rule: e.Code, level: "error", file: e.File, text: e.Msg, key: c.What})
	}
	return append(out, problemsOf(doc.Findings)...)
}

// encodeReport is doc, or what it is about as SARIF.
func (a *app) encodeReport(format string, doc any, problems []problem) ([]byte, error) {
	if format == "sarif" {
		doc = a.sarifOf(problems)
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	return append(term.JSON(data), '\n'), err
}

func (a *app) showCheck(arg string, doc buildCheckJSON) error {
	stale := fault.New(fault.Drift, "%s is stale: %s", doc.Lock, count(len(doc.Changes), "difference")).
		At(doc.Lock, 0, 0).WithHint("%s", strings.TrimSpace("joy build "+arg))
	stale.Code = ruleStale
	for _, c := range doc.Changes {
		a.annotate("error", doc.drift(c))
	}
	if doc.Stale {
		a.annotate("error", stale)
	}
	if a.json {
		if err := a.printJSON(doc); err != nil || !doc.Stale {
			return err
		}
		return exit(exitCodeOf(fault.Drift))
	}
	a.annotateFindings(doc.Findings)
	a.sayFindings(doc.Findings, doc.Notes)
	if err := a.printChanges(a.out, doc.Changes); err != nil {
		return err
	}
	if doc.Stale {
		return stale
	}
	outside := ""
	if doc.Outside > 0 {
		outside = fmt.Sprintf("; %s not resolved again", count(doc.Outside, "outside pin"))
	}
	err := a.out.Printf("%s is what a build would write%s", doc.Lock, outside)
	return err
}

func notNil[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
