package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/term"
)

// tailLines is how much of a failed command's output is shown; the rest is where it says.
const tailLines = 15

// artifactLines is how many artifacts are named at the end of a run.
const artifactLines = 20

// sayOutcome ends a run on stderr: what failed and why, what was left, and the next command.
func (a *app) sayOutcome(rec *record, out runner.Outcome) {
	for _, s := range out.Steps {
		if s.Status == runner.Failed {
			a.sayFailure(s, out.Status == runner.Interrupted)
		}
	}
	if f := out.Failure; f != nil && f.Step == "" && !errors.Is(f.Err, runner.ErrInterrupted) {
		a.tell("%s %s (failure_kind: %s)", a.err.fail.Render("run failed:"), term.Line(f.Err.Error()), f.Kind)
		a.sayHints(f.Err)
	}
	if a.quiet {
		return
	}
	status := a.err.fail.Render(out.Status)
	switch out.Status {
	case runner.Succeeded:
		status = a.err.good.Render(out.Status)
	case runner.Interrupted:
		status = a.err.warn.Render(out.Status)
	}
	a.tell("run %s %s in %s: %s", rec.run.ID, status, short(out.Duration), stepCounts(out.Steps))
	a.sayArtifacts(out.Steps)
	next := "joy ledger show"
	if out.Status != runner.Succeeded {
		next = "joy ledger show " + rec.run.ID
	}
	a.say("next: %s", a.err.bold.Render(next))
}

// sayArtifacts names the first artifacts, and says how much of out/ is none.
func (a *app) sayArtifacts(steps []runner.StepOutcome) {
	shown, more, left := 0, 0, int64(0)
	for _, s := range steps {
		left += min(s.LeftOut, math.MaxInt64-left)
		for _, art := range s.Artifacts {
			if shown == artifactLines {
				more++
				continue
			}
			shown++
			line := term.Line(s.ID+"/"+art.Name) + "  " + size(art.Size)
			sum := "sha256:" + art.SHA256[:12]
			if a.err.tty && ansi.StringWidth(line)+len(sum)+4 > a.err.width { // a name is needed whole, a digest is in the ledger
				sum = ""
			}
			a.tell("  %s  %s", line, a.err.dim.Render(sum))
		}
	}
	if more > 0 {
		a.tell("  and %d more: joy artifact list", more)
	}
	if left > 0 {
		a.tell("%s %d %s of out/; joy artifact list says why", a.err.warn.Render("not kept:"), left, pick(left == 1, "entry", "entries"))
	}
	for _, s := range steps {
		if s.Partial != "" {
			a.warn("step %s: %s", s.ID, s.Partial)
		}
	}
}

func (a *app) sayFailure(s runner.StepOutcome, interrupted bool) {
	f := s.Failure
	if errors.Is(f.Err, runner.ErrInterrupted) {
		a.tell("%s after %s", a.err.warn.Render("step "+s.ID+" interrupted"), short(s.Duration))
	} else {
		a.tell("%s %s", a.err.fail.Render("step "+s.ID+" failed:"), term.Line(f.Err.Error()))
		a.tell("  %safter %s, failure_kind: %s", exitText(s, interrupted), short(s.Duration), f.Kind)
	}
	a.sayHints(f.Err)
	for _, line := range lastLines(s.Tail, tailLines) {
		a.tell("  %s %s", a.err.dim.Render("|"), a.cut(term.Line(line), 4))
	}
	if s.Log != "" && len(s.Tail) > 0 {
		a.say("  all of its output: %s.{stdout,stderr}", term.Line(a.rel(s.Log)))
	}
}

// cut shortens what strangers printed to a terminal's width less the columns that are taken. Elsewhere it stays whole.
func (a *app) cut(line string, taken int) string {
	if !a.err.tty {
		return line
	}
	return ansi.Truncate(line, max(a.err.width-taken, 20), "…")
}

// exitText is the exit status of a command that had one: the end of one that joy killed is joy's, not its own.
func exitText(s runner.StepOutcome, interrupted bool) string {
	if interrupted || s.ExitCode < 0 || s.Failure.Timeout || s.Failure.Kind != fault.Agent {
		return ""
	}
	return fmt.Sprintf("exit %d, ", s.ExitCode)
}

// sayHints prints the remedies that a failure carries.
func (a *app) sayHints(err error) {
	for _, e := range fault.All(err) {
		if e.Hint != "" {
			a.tell("%s %s", a.err.note.Render("hint:"), term.Line(e.Hint))
		}
	}
}

// rel is a path as a person here would write it.
func (a *app) rel(path string) string {
	if rel, err := filepath.Rel(a.env.Dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return path
}

func lastLines(b []byte, most int) []string {
	if len(b) == 0 {
		return nil
	}
	lines := bytes.Split(b, []byte("\n"))
	var out []string
	for _, l := range lines[max(0, len(lines)-most):] {
		out = append(out, strings.ToValidUTF8(string(l), "\uFFFD"))
	}
	return out
}

func stepCounts(steps []runner.StepOutcome) string {
	counts := map[string]int{}
	artifacts := 0
	for _, s := range steps {
		counts[s.Status]++
		artifacts += len(s.Artifacts)
	}
	parts := []string{plural(counts[runner.Succeeded], "step") + " succeeded"}
	if n := counts[runner.Failed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := counts[runner.Skipped]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", n))
	}
	return strings.Join(append(parts, plural(artifacts, "artifact")), ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// short is a duration a person reads at a glance.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
