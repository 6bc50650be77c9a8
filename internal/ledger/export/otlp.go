package export

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// otlp is a trace of the run in OTLP/JSON. Names of what has to do with models and tools are those of the semantic
// conventions for generative AI, v0.1.0 (https://github.com/open-telemetry/semantic-conventions-genai), which are in
// development; where they have no name, it begins with "joy.".
var otlp = Format{
	Name: "otlp", About: "a trace in OTLP/JSON, with the GenAI names of OpenTelemetry", JSON: true,
	Open: func(w io.Writer, run Run) (Writer, error) {
		return &tracer{w: bufio.NewWriterSize(w, 64<<10), run: run, open: map[int64]*live{}, steps: map[string]*live{}, queues: map[queue][]int64{}}, nil
	},
}

// live is a span whose end was not read yet.
type live struct {
	span
	seq  int64
	step string
	typ  string // of the entry that began it
}

type queue struct{ typ, step string }

// maxOpen is how many spans are held whose end was not read yet, far more than a run has. A start that comes when there are so
// many is an event.
const maxOpen = 4096

// tracer writes a span when its end is read, so that it keeps only what is under way.
type tracer struct {
	w     *bufio.Writer
	run   Run
	trace string
	root  *live
	open  map[int64]*live  // by seq, without the root and the steps
	steps map[string]*live // by id
	// queues are the keys of open, the oldest first, for an end that does not name its start. The first of each is open.
	queues map[queue][]int64
	last   time.Time
	some   bool // a span was written
}

func (t *tracer) Add(e verify.Entry) error {
	t.last = e.Time
	if e.Type == "run.started" {
		return t.begin(e)
	}
	if from, ok := spanStarts[e.Type]; ok && len(t.open)+len(t.steps) < maxOpen {
		s := t.start(e, from)
		if e.Type == "step.started" {
			t.steps[e.Step] = s
		} else {
			t.open[e.Seq] = s
			q := queue{e.Type, e.Step}
			t.queues[q] = append(t.queues[q], e.Seq)
		}
		return nil
	}
	s := t.of(e)
	if s == nil { // also a start that there is no room for
		t.around(e.Step).event(t.event(e))
		return nil
	}
	describe(&s.span, e)
	judge(&s.span, e)
	switch e.Type {
	case "sandbox.created", "sandbox.lost": // it goes on until it is destroyed
		s.event(t.event(e))
		return nil
	case "run.finished", "run.sealed":
		s.End = nanos(e.Time)
		return nil
	}
	return t.end(s, e.Time)
}

// begin writes what comes before the spans.
func (t *tracer) begin(e verify.Entry) error {
	sum := sha256.Sum256([]byte("joy trace\n" + e.Run))
	t.trace = hex.EncodeToString(sum[:16])
	t.root = t.start(e, spanStart{"invoke_workflow", "agent", kindInternal, "invoke_workflow"})
	t.root.set("joy.run.id", e.Run)
	head := &span{}
	head.set("service.name", "joy")
	head.set("service.namespace", e.Data["workspace"])
	res, err := plainJSON(head.Attrs)
	if err != nil {
		return err
	}
	scope, err := plainJSON(map[string]string{"name": BuilderID, "version": t.run.Joy})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.w, `{"resourceSpans":[{"resource":{"attributes":%s},"scopeSpans":[{"scope":%s,"spans":[`, res, scope)
	return err
}

// start begins the span that e is the beginning of.
func (t *tracer) start(e verify.Entry, from spanStart) *live {
	s := &live{seq: e.Seq, step: e.Step, typ: e.Type}
	s.Trace, s.ID, s.Kind, s.Start = t.trace, t.id(e), from.kind, nanos(e.Time)
	if t.root != nil {
		s.Parent = t.root.ID
		if step := t.steps[e.Step]; step != nil && from.ofStep() {
			s.Parent = step.ID
		}
	}
	name, subject := from.nameOf(e)
	s.Name = name
	if subject != "" {
		s.Name += " " + subject
	}
	if op := from.operationOf(e); op != "" {
		s.set("gen_ai.operation.name", op)
	}
	if e.Step != "" {
		s.set("joy.step.id", e.Step)
	}
	s.set("joy.seq", e.Seq)
	describe(&s.span, e)
	return s
}

// id is the same at each export, so that a trace that is sent twice is one trace.
func (t *tracer) id(e verify.Entry) string {
	sum := sha256.Sum256([]byte("joy span\n" + e.Run + "\n" + strconv.FormatInt(e.Seq, 10)))
	return hex.EncodeToString(sum[:8])
}

// of is the span that e goes on with or ends: that which it names, else the oldest of its step that it may end. It is nil
// for an entry that is an event.
func (t *tracer) of(e verify.Entry) *live {
	begins := spanEnds[e.Type]
	switch begins {
	case "":
		return nil
	case "run.started":
		return t.root
	case "step.started":
		return t.steps[e.Step]
	}
	if of, ok := e.Int("of"); ok {
		if s := t.open[of]; s != nil && s.typ == begins {
			return s
		}
		return nil
	}
	if waiting := t.queues[queue{begins, e.Step}]; len(waiting) > 0 {
		return t.open[waiting[0]]
	}
	return nil
}

// drop forgets a span that ended.
func (t *tracer) drop(s *live) {
	delete(t.open, s.seq)
	q := queue{s.typ, s.step}
	waiting := t.queues[q]
	for len(waiting) > 0 && t.open[waiting[0]] == nil {
		waiting = waiting[1:]
	}
	if t.queues[q] = waiting; len(waiting) == 0 {
		delete(t.queues, q)
	}
	if t.steps[s.step] == s {
		delete(t.steps, s.step)
	}
}

// around is the span that an event of a step belongs to.
func (t *tracer) around(step string) *live {
	if s := t.steps[step]; s != nil {
		return s
	}
	return t.root
}

func (t *tracer) event(e verify.Entry) event {
	s := &span{}
	s.set("joy.seq", e.Seq)
	describe(s, e)
	return event{nanos(e.Time), e.Type, s.Attrs}
}

// end writes a span.
func (t *tracer) end(s *live, at time.Time) error {
	t.drop(s)
	if s.End == "" {
		s.End = nanos(at)
	}
	raw, err := plainJSON(s.span)
	if err != nil {
		return err
	}
	if t.some {
		raw = append([]byte(",\n"), raw...)
	}
	t.some = true
	_, err = t.w.Write(raw)
	return err
}

// Close ends what has no end on record, and the run.
func (t *tracer) Close() error {
	if t.root == nil {
		_, err := t.w.WriteString(`{"resourceSpans":[]}` + "\n")
		return joinFlush(t.w, err)
	}
	left := append(slices.Collect(maps.Values(t.open)), slices.Collect(maps.Values(t.steps))...)
	slices.SortFunc(left, func(a, b *live) int { return cmp.Compare(a.seq, b.seq) })
	for _, s := range left {
		s.set("joy.outcome_unknown", true)
		s.fail("unknown", "outcome unknown: there is no end on record")
		if err := t.end(s, t.last); err != nil {
			return err
		}
	}
	rep := t.run.Report
	t.root.set("joy.ledger.state", string(rep.State))
	t.root.set("joy.ledger.entries", rep.Entries)
	t.root.set("joy.ledger.head", rep.Head)
	if rep.State != verify.Complete {
		t.root.set("joy.ledger.problem", rep.Problem)
		if !rep.Finished {
			t.root.fail("unknown", "the ledger is incomplete: "+rep.Problem)
		}
	}
	if err := t.end(t.root, t.last); err != nil {
		return err
	}
	_, err := t.w.WriteString("]}]}]}\n")
	return joinFlush(t.w, err)
}

func joinFlush(w *bufio.Writer, err error) error {
	if err != nil {
		return err
	}
	return w.Flush()
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
