package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

type planDiffJSON struct {
	Schema  string        `json:"schema"`
	Old     side          `json:"old"`
	New     side          `json:"new"`
	Same    bool          `json:"same"`
	Widens  int           `json:"widens"` // how many of the changes let a run do more
	Changes []plan.Change `json:"changes"`
}

func (a *app) showDiff(old, now side, failWiden bool) error {
	doc := planDiffJSON{"joy.plan-diff/1", old, now, false, 0, notNil(plan.Compare(old.plan, now.plan))}
	doc.Same = len(doc.Changes) == 0
	var wide []error
	for _, c := range doc.Changes {
		if c.Widens == "" {
			continue
		}
		doc.Widens++
		e := fault.New(fault.Policy, "%s: %s", c.Widens, shortDigests(c.String())).At(now.Name, 0, 0)
		e.Code = codeWidens
		wide = append(wide, e)
		if failWiden {
			a.annotate("error", e)
		}
	}
	if a.json {
		if err := a.printJSON(doc); err != nil || !failWiden || doc.Widens == 0 {
			return err
		}
		return exit(exitCodeOf(fault.Policy))
	}
	if _, err := a.out.Write([]byte(a.diffText(doc))); err != nil {
		return err
	}
	if failWiden && doc.Widens > 0 {
		return fault.New(fault.Policy, "%s may do more than %s: %s", now.Name, old.Name, count(len(wide), "change")).
			WithHint("have the lines marked with ! reviewed")
	}
	return nil
}

func (a *app) diffText(doc planDiffJSON) string {
	var b strings.Builder
	for _, s := range []struct {
		mark string
		side side
	}{{"-", doc.Old}, {"+", doc.New}} {
		of := s.side.Digest
		if of == "" {
			of = "not there"
		}
		if s.side.Commit != "" {
			of = fmt.Sprintf("commit %.12s, %s", s.side.Commit, of)
		}
		fmt.Fprintf(&b, "%s %s (%s)\n", s.mark, a.line(s.side.Name), a.shown(of))
	}
	group := ""
	for _, c := range doc.Changes {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "\n%s\n", a.out.bold.Render(a.line(group)))
		}
		b.WriteString(a.diffLine(c))
	}
	if doc.Same {
		b.WriteString("\nno difference\n")
		return b.String()
	}
	fmt.Fprintf(&b, "\n%s", count(len(doc.Changes), "change"))
	if doc.Widens > 0 {
		fmt.Fprintf(&b, ", %s", a.out.fail.Render(fmt.Sprintf("! %d let a run do more", doc.Widens)))
	}
	return b.String() + "\n"
}

// diffLine is one change below the name of its group.
func (a *app) diffLine(c plan.Change) string {
	if short := strings.TrimLeft(strings.TrimPrefix(c.What, c.Group), ".: "); short != "" && strings.HasPrefix(c.What, c.Group) {
		c.What = short
	}
	text := a.line(a.shown(c.String()))
	line := a.mark(text[:1]) + text[1:]
	if c.Widens == "" {
		return "  " + line + "\n"
	}
	return a.out.fail.Render("!") + " " + line + a.out.dim.Render("  ("+c.Widens+")") + "\n"
}

func (a *app) mark(m string) string {
	style := map[string]lipgloss.Style{"+": a.out.good, "~": a.out.warn, "-": a.out.fail}[m]
	return style.Render(m)
}

var wholeDigest = regexp.MustCompile(`sha256:([0-9a-f]{12})[0-9a-f]{52}`)

// shortDigests leaves of each digest what tells it from others.
func shortDigests(s string) string { return wholeDigest.ReplaceAllString(s, "sha256:$1…") }

// shown is shortDigests, unless more was asked for.
func (a *app) shown(s string) string {
	if a.verbose > 0 {
		return s
	}
	return shortDigests(s)
}
