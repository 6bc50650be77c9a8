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
	"github.com/joystream-ai/joy/internal/plan"
)

// buildCheckJSON is the report of joy build --check.
type buildCheckJSON struct {
	Schema   string         `json:"schema"`
	Lock     string         `json:"lock"`
	Stale    bool           `json:"stale"`
	Changes  []plan.Change  `json:"changes"`
	Findings []plan.Finding `json:"findings"`
	Notes    []string       `json:"notes"`
	Outside  int            `json:"outside_pins"` // not resolved again
}

// buildCheck writes no lock. It exits 3 with the list of what differs.
func (a *app) buildCheck(ctx context.Context, arg string, o buildOptions) error {
	p, err := a.project(arg)
	if err != nil {
		return err
	}
	format := strings.TrimPrefix(path.Ext(o.out), ".")
	if o.out != "" && format != "json" && format != "sarif" {
		return usage(fmt.Errorf("-o %s: a report is .json or .sarif", o.out), "joy build --check -o report.sarif")
	}
	lock, err := readCapped(p.lockPath, plan.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		e := fault.New(fault.Drift, "there is no %s", p.lockName).At(p.lockName, 0, 0).WithHint("joy build %s", arg)
		e.Code = "JOY-NO-LOCK"
		a.annotate(e)
		return e
	} else if err != nil {
		return fault.Wrap(fault.Input, err, "read the lock").At(p.lockName, 0, 0)
	}
	rep, err := build.Check(ctx, lock, p.lockName, build.Options{Dir: p.dir, Strict: o.strict})
	if err != nil {
		for _, e := range fault.All(err) {
			if e.File != p.lockName {
				e.File = p.place(e.File)
			}
			a.annotate(e)
		}
		return err
	}
	doc := buildCheckJSON{
		"joy.build-check/1", p.lockName, len(rep.Changes) > 0, notNil(rep.Changes), p.placed(rep.Result.Findings), notNil(rep.Notes), rep.Outside,
	}
	if o.out != "" {
		data, err := doc.encode(format)
		if err != nil {
			return err
		}
		if err := a.writeReport(o.out, data); err != nil {
			return err
		}
	}
	return a.showCheck(arg, doc)
}

func (doc buildCheckJSON) encode(format string) ([]byte, error) {
	var v any = doc
	if format == "sarif" {
		v = sarifOf(doc)
	}
	data, err := json.MarshalIndent(v, "", "  ")
	return append(data, '\n'), err
}

func (a *app) showCheck(arg string, doc buildCheckJSON) error {
	stale := fault.New(fault.Drift, "%s is stale: %s", doc.Lock, count(len(doc.Changes), "difference")).
		At(doc.Lock, 0, 0).WithHint("%s", strings.TrimSpace("joy build "+arg))
	stale.Code = "JOY-STALE"
	if doc.Stale {
		a.annotate(stale)
	}
	if a.json {
		if err := a.printJSON(doc); err != nil || !doc.Stale {
			return err
		}
		return exit(exitCodeOf(fault.Drift))
	}
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
	_, err := fmt.Fprintf(a.out, "%s is what a build would write%s\n", doc.Lock, outside)
	return err
}

// annotate tells GitHub Actions where a fault is
// (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands). Elsewhere it says nothing.
func (a *app) annotate(e *fault.Error) {
	if on, _ := a.env.LookupEnv("GITHUB_ACTIONS"); on != "true" || a.json {
		return
	}
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	where := "file=" + property.Replace(e.File)
	if e.Line > 0 {
		where += fmt.Sprintf(",line=%d", e.Line)
	}
	msg := e.Msg
	if e.Hint != "" {
		msg += "; " + e.Hint
	}
	fmt.Fprintf(a.err, "::error %s,title=%s::%s\n", where, property.Replace(e.Code), text.Replace(msg))
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
