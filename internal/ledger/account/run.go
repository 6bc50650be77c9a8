package account

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// Run is what two runs are compared by. Of a long run only the first facts of a kind are held one by one.
type Run struct {
	facts map[key]string // what is compared
	bytes int            // of the values held
	kinds map[key]*kind  // by step and what
	order []key          // of facts, as the ledger has them
	took  map[string]int64
	place map[key]string // of circumstances, which are told and not compared

	counts map[string]int // how many of a kind a step had so far
	nth    map[int64]key  // seq of a start to its key
}

// key names a fact: of which step ("" for the run), what it is, and which one of several.
type key struct{ step, what, name string }

// NewRun is a run of which no entry was read yet.
func NewRun() *Run {
	return &Run{
		facts: map[key]string{}, took: map[string]int64{}, place: map[key]string{}, counts: map[string]int{},
		nth: map[int64]key{}, kinds: map[key]*kind{},
	}
}

// circumstances are members that say on what a run took place, and what it cannot choose.
var circumstances = map[string][]string{
	"run.started":     {"provider", "joy", "guest", "trigger", "operator", "actor"},
	"sandbox.created": {"isolation", "accelerator", "confinement", "start", "start_reason"},
}

// Add takes the ledger's entries one after the other.
func (r *Run) Add(e verify.Entry) {
	for _, name := range circumstances[e.Type] {
		if v, ok := e.Data[name]; ok {
			var text strings.Builder
			addText(&text, v)
			r.place[key{"", "circumstance", name}] = strings.TrimSpace(text.String())
		}
	}
	switch first, _, _ := strings.Cut(e.Type, "."); first {
	case "run":
		r.run(e)
	case "step":
		r.step(e)
	case "command":
		r.command(e)
	case "tool", "approval":
		r.call(e)
	case "sandbox":
		switch e.Type {
		case "sandbox.created":
			r.set(key{"", "image", ""}, e.String("image"))
		case "sandbox.lost":
			r.set(key{"", "sandbox", "lost"}, e.String("reason"))
		}
	case "artifact":
		r.artifact(e)
	case "egress":
		if e.Type != "egress.closed" {
			name := strings.TrimSpace(fmt.Sprint(firstOf(e, "host", "path", "to"), " ", firstOf(e, "port", "method")))
			r.set(key{e.Step, e.Type, name}, firstOf(e, "reason"))
		}
	}
}

func (r *Run) run(e verify.Entry) {
	switch e.Type {
	case "run.started":
		r.set(key{"", "plan", ""}, e.Prev)
		r.set(key{"", "agent", ""}, e.String("agent"))
		r.set(key{"", "input", ""}, body(e, "input"))
		files, _ := e.Data["files"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			r.set(key{"", "input", name}, body(verify.Entry{Data: files}, name))
		}
	case "run.finished":
		r.set(key{"", "outcome", ""}, outcome(e, "outcome"))
		r.took[""], _ = e.Int("ms")
	}
}

func (r *Run) step(e verify.Entry) {
	switch e.Type {
	case "step.started":
		script, _ := e.Data["script"].(map[string]any)
		ran := firstOf(e, "bundle", "action")
		if s, ok := script["sha256"].(string); ok {
			ran = s
		}
		r.set(key{e.Step, "step", ""}, strings.TrimSpace(e.String("kind")+" "+ran))
	case "step.finished":
		r.set(key{e.Step, "status", ""}, outcome(e, "status"))
		if len(r.took) < maxKinds {
			r.took[e.Step], _ = e.Int("ms")
		}
		if _, ok := e.Data["output"]; ok {
			r.set(key{e.Step, "output", ""}, body(e, "output"))
		}
	case "step.skipped":
		r.set(key{e.Step, "status", ""}, "skipped")
	}
}

// next numbers the things of a kind that a step does: they come in an order within a step, and in none between steps.
func (r *Run) next(step, what string) key {
	n, known := r.counts[step+" "+what]
	if !known && len(r.counts) >= maxKinds {
		return key{"", beyond, ""}
	}
	r.counts[step+" "+what] = n + 1
	return key{step, what, strconv.Itoa(n + 1)}
}

// begun is next of an entry whose end will name it.
func (r *Run) begun(e verify.Entry, what string) key {
	k := r.next(e.Step, what)
	if len(r.nth) < maxFacts {
		r.nth[e.Seq] = k
	}
	return k
}

// ended is what begun gave for the entry that e names.
func (r *Run) ended(e verify.Entry) (key, bool) {
	of, _ := e.Int("of")
	k, ok := r.nth[of]
	delete(r.nth, of)
	return k, ok
}

func (r *Run) command(e verify.Entry) {
	if e.Type == "command.started" {
		k := r.begun(e, "command")
		r.set(k, e.String("command"))
		if _, ok := e.Data["input"]; ok {
			r.set(key{k.step, "command input", k.name}, body(e, "input"))
		}
		return
	}
	k, ok := r.ended(e)
	if !ok {
		return
	}
	end := "exit " + firstOf(e, "exit")
	if _, exited := e.Int("exit"); !exited {
		end = e.String("ended_by")
	}
	r.set(key{k.step, "command end", k.name}, strings.TrimSpace(end+" "+e.String("signal")+" "+e.String("reason")))
	r.set(key{k.step, "stdout", k.name}, printed(e, "stdout"))
	r.set(key{k.step, "stderr", k.name}, printed(e, "stderr"))
}

// printed names what a command printed by its digest, which is of the scrubbed bytes; the size is of those before, and differs where
// another secret, or its marker, was printed in the same place.
func printed(e verify.Entry, name string) string {
	m, _ := e.Data[name].(map[string]any)
	if sum, ok := m["sha256"].(string); ok {
		return sum
	}
	return body(e, name)
}

func (r *Run) call(e verify.Entry) {
	switch e.Type {
	case "tool.requested":
		k := r.begun(e, "call")
		r.set(k, e.String("action")+" "+body(e, "arguments"))
	case "tool.returned":
		if k, ok := r.ended(e); ok {
			r.set(key{k.step, "answer", k.name}, strings.TrimSpace(body(e, "result")+" "+e.String("error")))
		}
	case "tool.denied", "tool.drifted", "approval.denied":
		k := r.next(e.Step, e.Type)
		r.set(k, strings.TrimSpace(e.String("action")+" "+e.String("reason")))
	}
}

func (r *Run) artifact(e verify.Entry) {
	value := body(verify.Entry{Data: map[string]any{"": e.Data}}, "")
	if e.Type != "artifact.stored" {
		value = strings.TrimPrefix(e.Type, "artifact.") + " " + firstOf(e, "reason", "secret")
	}
	r.set(key{e.Step, "artifact", e.String("name")}, value)
}

// body names a value by its digest and size.
func body(e verify.Entry, name string) string {
	m, _ := e.Data[name].(map[string]any)
	sum, _ := m["sha256"].(string)
	if n, ok := m["bytes"].(int64); ok {
		return strings.TrimSpace(fmt.Sprintf("%s %d B", sum, n))
	}
	return sum
}

func outcome(e verify.Entry, name string) string {
	if kind := e.String("failure_kind"); kind != "" {
		return e.String(name) + " (" + kind + ")"
	}
	return e.String(name)
}

// firstOf is the first of the named members that there is.
func firstOf(e verify.Entry, names ...string) string {
	for _, name := range names {
		if v, ok := e.Data[name]; ok {
			return fmt.Sprint(v)
		}
	}
	return ""
}
