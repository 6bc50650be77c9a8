package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bar is a stretch of time, in ms since 1970, and the level of what went on in it.
type bar struct {
	from, to int64
	level    string
}

func span(from, to time.Time, level string) bar { return bar{from.UnixMilli(), to.UnixMilli(), level} }

// row is a line of the timeline.
type row struct {
	Name  string
	Href  string // of the step; "" for none
	Class string
	Note  string // in words, for who does not see the bars
	When  string // where its bars are, in words
	Took  string
	Bars  []drawn
	Ticks []string // where something was denied, in percent
}

// drawn is a bar in percent of the run.
type drawn struct {
	X, Width, Class, Title string
	Y, Height              int // px
}

// heights of what is drawn in a row, and where it begins: a step is behind what it does.
var heights = map[string][2]int{"whole": {3, 20}, "command": {6, 6}, "call": {14, 5}, "wait": {14, 5}, "net": {20, 2}}

// mark is a label of the axis.
type mark struct{ X, Text, Anchor string }

type timeline struct {
	Rows  []row
	Marks []mark
	More  int // steps without a row
}

// scale turns times into percent.
type scale struct{ from, length int64 }

func (s scale) at(ms int64) float64 {
	return float64(min(max(ms-s.from, 0), s.length)) * 100 / float64(s.length)
}

// words tell when something began and ended, for who does not see where its bar is.
func (s scale) words(b bar) string {
	at := func(ms int64) string { return took(time.Duration(max(ms-s.from, 0)) * time.Millisecond) }
	return fmt.Sprintf("from %s to %s", at(b.from), at(b.to))
}

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }

func (s scale) draw(b bar, class, lane, what string) drawn {
	x := s.at(b.from)
	if b.level != "" {
		class += " " + b.level
	}
	length := time.Duration(b.to-b.from) * time.Millisecond
	place := heights[lane]
	return drawn{percent(x), percent(max(s.at(b.to)-x, 0.2)), class, what + ", " + took(length), place[0], place[1]}
}

// merged draws as one what nobody could tell apart. A level is never hidden in a bar without one.
func (s scale) merged(bars []bar) []bar {
	near := s.length / maxBars
	slices.SortStableFunc(bars, func(a, b bar) int { return int(a.from - b.from) })
	last := map[string]int{}
	var out []bar
	for _, b := range bars {
		if i, ok := last[b.level]; ok && b.from-out[i].to <= near {
			out[i].to = max(out[i].to, b.to)
			continue
		}
		last[b.level] = len(out)
		out = append(out, b)
	}
	return out
}

// maxHeld is how many bars of a lane are held before those that nobody will tell apart are put together. There are four
// levels.
const maxHeld = 2 * 4 * maxBars

// thinned is bars, or what is drawn the same in the run so far, and so in one that went on longer.
func (s scale) thinned(bars []bar) []bar {
	if len(bars) < maxHeld {
		return bars
	}
	return s.merged(bars)
}

func (s scale) thinnedTicks(at []int64) []int64 {
	if len(at) < maxHeld {
		return at
	}
	near := s.length / maxBars
	last := at[0] - near - 1
	return slices.DeleteFunc(at, func(ms int64) bool {
		if ms-last <= near {
			return true
		}
		last = ms
		return false
	})
}

// scale is that of the entries so far.
func (p *Page) scale() scale {
	return scale{p.first.Time.UnixMilli(), max(p.last.Time.Sub(p.first.Time).Milliseconds(), 1)}
}

func (v *view) timeline() timeline {
	s := v.p.scale()
	t := timeline{Marks: marks(s.length), More: len(v.p.moreSteps)}
	waits := v.p.waits
	if v.p.waiting != nil {
		waits = append(slices.Clone(waits), span(v.p.waiting.Time, v.p.last.Time, unknown))
	}
	if len(waits) > 0 {
		r := row{Name: "Waiting for room", Class: "waits", Note: "for a VM"}
		for _, b := range s.merged(waits) {
			r.Bars = append(r.Bars, s.draw(b, "wait", "whole", "waiting"))
			r.When = strings.TrimPrefix(r.When+", "+s.words(b), ", ")
		}
		t.Rows = append(t.Rows, r)
	}
	for i, m := range v.p.vms {
		if i == maxVMRows {
			break
		}
		t.Rows = append(t.Rows, v.lifeOf(m, s))
	}
	for _, st := range v.p.steps {
		if st.id != "" || len(st.lanes) > 0 || len(st.denied) > 0 {
			t.Rows = append(t.Rows, v.rowOf(st, s))
		}
	}
	return t
}

// maxVMRows is how many VMs are drawn; a run has one or two.
const maxVMRows = 20

// lifeOf draws a VM from the request to its end: booting, alive, and the time after it was lost.
func (v *view) lifeOf(m *machine, s scale) row {
	gone := v.p.last
	r := row{Name: "VM", Class: "vm", Note: "its end is not on record"}
	if m.removed != nil {
		gone = *m.removed
		r.Note = "destroyed"
		if m.removed.Data["verified"] != true {
			r.Note = "it may still be alive"
		}
	}
	up := gone
	if m.created != nil {
		up = *m.created
	}
	r.Bars = append(r.Bars, s.draw(span(m.requested.Time, up.Time, ""), "boot", "whole", "boot"))
	if m.created != nil {
		alive, level := gone, ""
		if m.lost != nil {
			alive, level = *m.lost, failed
			r.Note = "lost: " + line(m.lost.String("reason"))
		}
		r.Bars = append(r.Bars, s.draw(span(up.Time, alive.Time, level), "alive", "whole", "alive"))
		r.Note = fmt.Sprintf("boot %s; %s", took(up.Time.Sub(m.requested.Time)), r.Note)
	}
	r.Took, r.When = took(gone.Time.Sub(m.requested.Time)), s.words(span(m.requested.Time, gone.Time, ""))
	return r
}

// rowOf draws a step, and in it its commands, calls, connections and questions.
func (v *view) rowOf(st *step, s scale) row {
	r := row{Name: v.stepName(st), Href: fmt.Sprintf("#s%d", st.n), Class: v.status(st).Class, Note: v.status(st).Word}
	switch {
	case st.start != nil:
		end := v.p.last.Time
		if st.end != nil {
			end = st.end.Time
		}
		whole := span(st.start.Time, end, "")
		r.Bars = append(r.Bars, s.draw(whole, "step", "whole", r.Name))
		r.Took, r.When = lasted(*st.start, st.end), s.words(whole)
	case st.id != "":
		r.Took = "–"
	}
	for _, lane := range []string{"command", "call", "net", "wait"} {
		for _, b := range s.merged(st.lanes[lane]) {
			r.Bars = append(r.Bars, s.draw(b, lane, lane, lane))
		}
	}
	last := int64(-1)
	for _, ms := range st.denied {
		if near := s.length / maxBars; last < 0 || ms-last > near {
			r.Ticks = append(r.Ticks, percent(s.at(ms)))
			last = ms
		}
	}
	return r
}

// marks are round times along the axis, at most six.
func marks(length int64) []mark {
	units := []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000, 1800000, 3600000}
	step := units[len(units)-1]
	for _, u := range units {
		if length/u <= 5 {
			step = u
			break
		}
	}
	for length/step > 5 {
		step *= 2
	}
	var out []mark
	for t := int64(0); t <= length; t += step {
		m := mark{percent(float64(t) * 100 / float64(length)), tickText(t), "middle"}
		if t == 0 {
			m.Anchor = "start"
		} else if t*100 > length*93 {
			m.Anchor = "end"
		}
		out = append(out, m)
	}
	return out
}

func tickText(ms int64) string {
	switch {
	case ms == 0:
		return "0"
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 60000:
		return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) + " s"
	}
	return took(time.Duration(ms) * time.Millisecond)
}
