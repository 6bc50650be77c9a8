package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// runMoment is a moment of one run, with what there is to say of the run.
type runMoment struct {
	extent
	account.Moment
	logs    string
	agent   string
	outcome string
}

func (m *runMoment) add(e verify.Entry) {
	switch e.Type {
	case "run.started":
		m.agent = e.String("agent")
	case "run.finished":
		m.outcome = e.String("outcome")
	}
	m.Add(e)
}

// state is how the run ended, as far as is known.
func (m *runMoment) state(rep verify.Report) string {
	switch {
	case rep.State == verify.Broken:
		return "the ledger is broken"
	case m.outcome != "":
		return m.outcome
	case m.live:
		return "still going on"
	}
	return "it has no end on record"
}

// printMoment prints what was under way, then what happened.
func (a *app) printMoment(m *runMoment, rep verify.Report, opts showOptions, more bool) error {
	out := a.out
	var b strings.Builder
	if more {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s  run %s of %s\n", out.bold.Render(whenText(m.When, opts.zone)), term.Line(rep.Run), term.Line(m.agent))
	state := m.state(rep)
	fmt.Fprintf(&b, "from %s to %s, %s\n\n", rep.Started.In(opts.zone).Format("2006-01-02 15:04:05.000"),
		rep.Ended.In(opts.zone).Format("2006-01-02 15:04:05.000"), a.outcomeStyle(state).Render(state))
	if _, err := io.WriteString(out, b.String()); err != nil {
		return err
	}
	if open := m.Open(); len(open) > 0 {
		t := out.newTable("UNDER WAY", "STEP", "SINCE", "UNTIL", "")
		for _, act := range open {
			t.row(plain(act.What, act.Start.Step, clockText(act.Start.Time, m.When, opts.zone), m.until(act, opts.zone), doing(act))...)
		}
		if err := t.print(); err != nil {
			return err
		}
		if m.Lost > 0 {
			fmt.Fprintf(out, "and %d more, which are not listed\n", m.Lost)
		}
		fmt.Fprintln(out)
	}
	view := &ledgerView{app: a, opts: opts, logs: m.logs}
	for _, e := range m.During {
		view.take(e)
	}
	if err := view.close(); err != nil {
		return err
	}
	if view.shown == 0 {
		fmt.Fprintln(out, "no entry of the ledger is of that time")
	}
	if m.More > 0 {
		since := m.During[len(m.During)-1].Time.In(opts.zone).Format("2006-01-02T15:04:05.000Z07:00")
		fmt.Fprintf(out, "%d more entries of that time are not shown here: joy ledger show %s --since %s\n", m.More, term.Line(rep.Run), since)
	}
	a.tell("next: %s", a.err.bold.Render("joy ledger show "+term.Line(rep.Run)))
	return nil
}

// until is when an activity ended.
func (m *runMoment) until(act account.Activity, zone *time.Location) string {
	switch {
	case act.End != nil:
		return clockText(act.End.Time, m.When, zone)
	case m.live:
		return "goes on"
	}
	return "unknown"
}

// clockText is a time of day; with the day when it is not that of the moment.
func clockText(t time.Time, w account.When, zone *time.Location) string {
	t = t.In(zone)
	if day := t.Format(time.DateOnly); day != w.From.In(zone).Format(time.DateOnly) {
		return day + t.Format(" 15:04:05.000")
	}
	return t.Format("15:04:05.000")
}

// doing says what an activity was and how it ended.
func doing(act account.Activity) string {
	text := phrase(act.Start)
	if act.End != nil {
		text += "  → " + phrase(*act.End)
	}
	return text
}

// atJSON is the document of `joy ledger show --at --json`.
type atJSON struct {
	Schema string      `json:"schema"`
	From   string      `json:"from"`
	To     string      `json:"to"`
	Runs   []atRunJSON `json:"runs"`
}

type atRunJSON struct {
	Run      string         `json:"run"`
	Agent    string         `json:"agent"`
	Started  string         `json:"started"`
	Ended    string         `json:"ended"`   // of the last entry
	Outcome  string         `json:"outcome"` // "" without run.finished
	Ledger   string         `json:"ledger"`
	UnderWay []underWayJSON `json:"under_way"`
	Entries  []entryJSON    `json:"entries"` // of the moment; the first 5000
	More     int            `json:"more_entries,omitempty"`
	Lost     int            `json:"more_under_way,omitempty"`
}

type underWayJSON struct {
	What  string     `json:"what"`
	Start entryJSON  `json:"start"`
	End   *entryJSON `json:"end,omitempty"`
}

type entryJSON struct {
	Seq  int64          `json:"seq"`
	Time string         `json:"time"`
	Type string         `json:"type"`
	Step string         `json:"step,omitempty"`
	Data map[string]any `json:"data"`
	Hash string         `json:"hash"`
}

func entryDoc(e verify.Entry) entryJSON {
	return entryJSON{e.Seq, stampUTC(e.Time), e.Type, e.Step, e.Data, e.Hash}
}

func (m *runMoment) json(rep verify.Report) atRunJSON {
	doc := atRunJSON{
		Run: rep.Run, Agent: m.agent, Started: stampUTC(rep.Started), Ended: stampUTC(rep.Ended), Outcome: m.outcome,
		Ledger: string(rep.State), UnderWay: []underWayJSON{}, Entries: []entryJSON{}, More: m.More, Lost: m.Lost,
	}
	for _, act := range m.Open() {
		u := underWayJSON{What: act.What, Start: entryDoc(act.Start)}
		if act.End != nil {
			end := entryDoc(*act.End)
			u.End = &end
		}
		doc.UnderWay = append(doc.UnderWay, u)
	}
	for _, e := range m.During {
		doc.Entries = append(doc.Entries, entryDoc(e))
	}
	return doc
}
