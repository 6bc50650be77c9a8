package page

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// view turns what was collected into what the templates print.
type view struct {
	p    *Page
	rec  Record
	room room // for what steps printed
}

func newView(p *Page, r Record) *view {
	p.close()
	if r.Zone == nil {
		r.Zone = time.Local
	}
	return &view{p, r, room{text: maxAllText * 3 / 4, images: maxAllImages, read: maxRead, gone: line(r.Gone)}}
}

// parts gives the templates of the page with their data, in order. Each is made when it is its turn, so that what one
// step printed is forgotten before the next.
func (v *view) parts(yield func(name string, data any) bool) {
	if !yield("head", v.head()) {
		return
	}
	for _, s := range v.p.steps {
		if !yield("step", v.stepView(s)) {
			return
		}
	}
	v.room.text = maxAllText / 4
	if yield("artifacts", v.artifactList()) {
		yield("foot", v.foot())
	}
}

// status is a state in a word and a class of the page.
type status struct{ Word, Class string }

// status is how a step ended.
func (v *view) status(s *step) status {
	switch {
	case s.end != nil && s.end.String("status") == "succeeded":
		return status{"succeeded", "ok"}
	case s.end != nil:
		return status{line(s.end.String("status")), failed}
	case s.skipped != "":
		return status{"skipped", "skip"}
	case s.start != nil && v.rec.Live:
		return status{"under way", unknown}
	case s.start != nil:
		return status{"outcome unknown", unknown}
	}
	return status{"", "none"}
}

// outcome is how the run ended, in words.
func (v *view) outcome() status {
	word := ""
	if v.p.finished != nil {
		word = v.p.finished.String("outcome")
	}
	switch {
	case v.rec.Verdict.State == verify.Broken:
		return status{"The ledger is broken", failed}
	case word == "succeeded":
		return status{"Succeeded", "ok"}
	case word == "failed":
		return status{"Failed", failed}
	case word == "interrupted":
		return status{"Interrupted", warned}
	case word != "":
		return status{line(word), warned}
	case v.rec.Live:
		return status{"Still going on", unknown}
	}
	return status{"No end on record", warned}
}

// interrupted says whether the run was stopped from outside.
func (v *view) interrupted() bool {
	return v.p.finished != nil && v.p.finished.String("outcome") == "interrupted"
}

// kinds are what a failure_kind means.
var kinds = map[string]string{
	"agent":      "something that the agent ran failed",
	"input":      "what the run was given does not fit",
	"connection": "an outside service, or its credential, failed",
	"policy":     "the plan does not allow what was tried",
	"platform":   "the machine below the run failed",
	"consent":    "a credential or an approval was missing",
}

type clock struct{ Local, UTC, Machine string }

func (v *view) clock(t time.Time) clock {
	if t.IsZero() {
		return clock{"unknown", "", ""}
	}
	return clock{
		Local: t.In(v.rec.Zone).Format("Mon 2 Jan 2006, 15:04:05 MST"), UTC: t.UTC().Format("2006-01-02 15:04:05.000 UTC"),
		Machine: t.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
}

// fact is a named value. Code is set in a monospaced face.
type fact struct {
	Name, Value, Class string
	Code               bool
}

type headView struct {
	Style                   template.CSS
	Policy                  string
	Agent, Run              string
	Outcome                 status
	Verdict                 verdictView
	Kind, KindMeans, Error  string
	FailedStep              string
	Began, Ended            clock
	Took                    string
	Facts                   []fact
	Why                     *account.Diagnosis
	Trouble                 []pointer
	MoreTrouble             int
	Timeline                timeline
	Graph                   *graph
	Input                   *body
	Files                   []fact
	Steps, Artifacts, Hosts int
}

func (v *view) head() headView {
	p := v.p
	h := headView{
		Style: style, Policy: policy, Agent: cmp.Or(line(p.first.String("agent")), "a run without a name"),
		Run: line(v.rec.Verdict.Run), Outcome: v.outcome(), Verdict: v.verdict(), Began: v.clock(p.first.Time),
		Ended: v.clock(p.last.Time), Took: took(p.last.Time.Sub(p.first.Time)), Facts: v.facts(), Timeline: v.timeline(),
		Graph: v.graph(), Steps: len(p.steps), Artifacts: len(p.artifacts), Hosts: len(p.hosts.rows),
	}
	if f := p.finished; f != nil {
		h.Kind, h.Error, h.FailedStep = line(f.String("failure_kind")), line(f.String("error")), line(f.String("step"))
		h.KindMeans = kinds[h.Kind]
		if v.interrupted() { // neither code nor answer was at fault, and Why tells the rest
			h.Kind, h.KindMeans, h.Error = "", "", ""
		}
		h.Took = lasted(p.first, f)
	}
	if h.Outcome.Class != "ok" && v.rec.Verdict.State != verify.Broken && v.rec.Why.RootCause != "" {
		why := v.rec.Why
		h.Why = &why
	}
	h.Trouble, h.MoreTrouble = v.pointers()
	if in := claimOf(p.first.Data["input"]); in.bytes > 0 {
		b := v.object("Input", in)
		h.Input = &b
	}
	files, _ := p.first.Data["files"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if len(h.Files) < maxListed {
			m, _ := files[name].(map[string]any)
			given, _ := m["name"].(string)
			h.Files = append(h.Files, fact{Name: line(name), Value: strings.TrimSpace(line(given) + "  " + term.Size(claimOf(m).bytes))})
		}
	}
	return h
}

// facts are what somebody compares runs by, in the order in which they look.
func (v *view) facts() []fact {
	first := v.p.first
	list := []fact{{Name: "Plan", Value: line(v.rec.Verdict.PlanDigest), Code: true}}
	add := func(name, value string) {
		if value = strings.TrimSpace(value); value != "" {
			list = append(list, fact{Name: name, Value: value})
		}
	}
	for i, m := range v.p.vms {
		if i == maxVMRows {
			break
		}
		e := m.requested
		if m.created != nil {
			e = *m.created
		}
		words := []string{e.String("provider"), e.String("isolation"), e.String("accelerator"), e.String("start")}
		add("Sandbox", line(strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " · ")))
		add("Confinement", line(valueText("", e.Data["confinement"])))
		cpus, _ := m.requested.Int("cpus")
		memory, _ := m.requested.Int("memory")
		disk, _ := m.requested.Int("disk")
		if cpus > 0 {
			add("Machine", fmt.Sprintf("%s · %s memory · %s disk", counted(int(cpus), "CPU"), term.Size(memory), term.Size(disk)))
		}
		list = append(list, fact{Name: "Image", Value: line(e.String("image")), Code: true})
	}
	if len(v.p.vms) == 0 {
		add("Sandbox", "no VM was asked for")
	}
	actor, _ := first.Data["actor"].(map[string]any)
	who, _ := actor["user"].(string)
	host, _ := actor["host"].(string)
	if who != "" {
		add("Started by", line(who+"@"+host+" · "+first.String("trigger")))
	}
	ci, _ := actor["ci"].(string)
	add("CI", line(ci))
	add("Workspace", line(first.String("workspace")))
	add("Removed", line(v.rec.Gone))
	return list
}
