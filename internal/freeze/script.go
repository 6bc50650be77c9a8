package freeze

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/fault"
)

// Options are what a script is made of besides the record.
type Options struct {
	Run     string
	Skill   string // name of the bundle that the model followed
	Name    string // name of the bundle that is made
	Input   map[string]any
	Files   []string                     // names of inputs that are files
	Body    func(string) ([]byte, error) // the kept bytes of a digest
	Printed func(Deed) []byte            // what a script wrote to stdout, nil when that is not known or too long
}

// Review is a place that its author has to look at.
type Review struct {
	Line int    `json:"line"` // of the script
	Text string `json:"text"`
}

// Made is the script, and what there is to say of it.
type Made struct {
	Script  []byte
	Kept    int // deeds that the script does
	Left    int // deeds that it only tells of
	Reviews []Review
	Answer  string // "printed": by one of the scripts; "recorded": the model's words
}

// answerFile has what the script printed whose last words are the answer.
const answerFile = "/workspace/.answer"

// Write makes the script. The record has passed Check. Errors are those of Options.Body, and of kind Input for what cannot
// be repeated.
func Write(r *Record, o Options) (Made, error) {
	w := &writer{record: r, o: o, values: inputValues(o)}
	var output []byte
	if r.Output != "" {
		var err error
		if output, err = o.Body(r.Output); err != nil {
			return Made{}, err
		}
		if bytes.Contains(output, []byte(redacted)) {
			return Made{}, fault.New(fault.Input, "the result of step %s held a secret, and the record has [REDACTED:…] in its place: it cannot be given again", r.Step).
				WithHint("have the model leave it out of its answer, run again, and freeze that run")
		}
	}
	from, whole := w.printedBy(output)
	body := &bytes.Buffer{}
	w.out = body
	for i, d := range r.Deeds {
		if err := w.deed(d, i == from, readLater(r.Deeds[i:])); err != nil {
			return w.made, err
		}
	}
	w.answer(output, from >= 0, whole)
	w.out = &bytes.Buffer{}
	w.head()
	w.out.Write(body.Bytes())
	w.made.Script = w.out.Bytes()
	w.made.Reviews = reviews(w.made.Script)
	return w.made, nil
}

type writer struct {
	record *Record
	o      Options
	values []value
	out    *bytes.Buffer
	made   Made
}

func (w *writer) say(format string, args ...any) { fmt.Fprintf(w.out, format+"\n", args...) }

// review marks what comes next.
func (w *writer) review(format string, args ...any) {
	w.say("# REVIEW: %s", strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
}

func (w *writer) head() {
	w.say("#!/usr/bin/env bash")
	w.say("# What a model did in step %s of run %s, in its order: made by joy freeze, for you to review.", w.record.Step, w.o.Run)
	w.say("# Each part runs by itself, as it did then. Only the result goes to stdout.")
	w.say("cd /workspace || exit")
	for _, v := range w.values {
		if v.file && v.left {
			w.say("\n# %s was %s in that run, and what follows finds it by that name.", strings.ReplaceAll(v.name, "\n", " "), v.text)
			w.say(`[ -e %s ] || ln -s "$%s" %s || exit`, quote(v.text), v.variable, quote(v.text))
		}
	}
}

// readLater says whether what the first of the deeds printed is read by a later one, from where joy has put it.
func readLater(deeds []Deed) bool {
	for _, d := range deeds[1:] {
		if deeds[0].Kind == Script && strings.Contains(d.Text, fmt.Sprintf(".output/%d.", deeds[0].Nth)) {
			return true
		}
	}
	return false
}

func (w *writer) deed(d Deed, answers, read bool) error {
	w.say("")
	switch {
	case d.Kind == File:
		w.made.Kept++
		return w.file(d)
	case d.Kind == Call && d.OK:
		w.made.Kept++
		return w.call(d)
	case d.Kind == Call:
		w.made.Left++
		w.say("# Entry %d: a call of %s that failed.", d.Seq, d.Action)
		return nil
	case !d.OK, !answers && !read && looks(d.Text):
		w.made.Left++
		w.leave(d, read)
		return nil
	}
	w.made.Kept++
	w.script(d, answers, read)
	return nil
}

// leave tells of a script that is not repeated.
func (w *writer) leave(d Deed, read bool) {
	end := d.Exit
	if end == "" {
		end = "its end is not on record"
	}
	if d.OK {
		w.say("# Entry %d only looked around (%s):", d.Seq, end)
	} else {
		w.say("# Entry %d failed (%s):", d.Seq, strings.ReplaceAll(end, "\n", " "))
		if read || !looks(d.Text) {
			w.review("what it did before it failed is not repeated; a later part may rely on it")
		}
	}
	for _, line := range strings.Split(strings.TrimRight(d.Text, "\n"), "\n") {
		w.say("%s", strings.TrimRight("#   "+line, " \r"))
	}
}

// script writes a part that is run. A shell without errexit holds it: in a list, bash would not obey a part's own set -e.
func (w *writer) script(d Deed, answers, read bool) {
	to := ">&2"
	w.say("# Entry %d", d.Seq)
	if read {
		w.say("mkdir -p .output || exit")
		to = fmt.Sprintf("> .output/%d.stdout 2> .output/%d.stderr", d.Nth, d.Nth)
	}
	if answers && read {
		to = fmt.Sprintf("2> .output/%d.stderr | tee .output/%d.stdout > %s", d.Nth, d.Nth, answerFile)
	} else if answers {
		to = "> " + answerFile
	}
	text, notes := w.place(d.Text)
	for _, n := range notes {
		w.review("%s", n)
	}
	if text = strings.TrimRight(text, "\n"); closed(text) {
		w.say("(\n%s\n) %s", text, to)
	} else {
		w.say("bash -c %s %s", quote(text), to)
	}
	w.say(`part=${PIPESTATUS[0]}; [ "$part" -eq 0 ] || exit "$part"`)
}

func (w *writer) file(d Deed) error {
	content, err := w.o.Body(d.Digest)
	if err != nil {
		return err
	}
	if bytes.Contains(content, []byte(redacted)) {
		return withheld(d)
	}
	text := w.moved(string(content))
	w.say("# Entry %d: a file", d.Seq)
	for _, n := range w.remaining(text) {
		w.review("%s", n)
	}
	at := quote(w.moved(d.Path))
	w.say("mkdir -p %s || exit", quote(path.Dir(w.moved(d.Path))))
	switch {
	case text == "":
		w.say(": > %s || exit", at)
	case !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r"):
		w.say("base64 -d > %s <<'END' || exit\n%s\nEND", at, folded([]byte(text)))
	case strings.HasSuffix(text, "\n"):
		end := delimiter(text)
		w.say("cat > %s <<'%s' || exit\n%s%s", at, end, text, end)
	default: // a here-document would end in a newline
		w.say("printf %%s %s > %s || exit", quote(text), at)
	}
	return nil
}

func (w *writer) call(d Deed) error {
	args, err := w.o.Body(d.Digest)
	if err != nil {
		return err
	}
	if bytes.Contains(args, []byte(redacted)) {
		return withheld(d)
	}
	w.say("# Entry %d: an action", d.Seq)
	w.review("its arguments are the model's words of that run, and it is called with them in every run")
	w.say("joy-guest call %s --json %s >&2 || exit", quote(d.Action), quote(string(args)))
	return nil
}

// answer ends the script with the step's result.
func (w *writer) answer(output []byte, printed, whole bool) {
	switch {
	case len(output) == 0:
		w.made.Answer = "recorded"
		w.say("")
		w.review("no result is on record")
		w.say("echo null")
	case printed && whole:
		w.made.Answer = "printed"
		w.say("\n# The result is what that part printed.\ncat %s", answerFile)
	case printed:
		w.made.Answer = "printed"
		w.say("\n# The result is the last line that that part printed.\ngrep -v '^[[:space:]]*$' %s | tail -n 1", answerFile)
	default:
		w.made.Answer = "recorded"
		w.say("")
		w.review("no part printed the result: these are the model's words of that run, the same for every input")
		end := delimiter(string(output))
		w.say("cat <<'%s'\n%s\n%s", end, bytes.TrimRight(output, "\n"), end)
	}
}

// printedBy finds the last script that printed the result: as all that it printed, or as its last line.
func (w *writer) printedBy(output []byte) (index int, whole bool) {
	if len(output) == 0 {
		return -1, false
	}
	for i := len(w.record.Deeds) - 1; i >= 0; i-- {
		d := w.record.Deeds[i]
		if d.Kind != Script || !d.OK {
			continue
		}
		text := bytes.TrimSpace(w.o.Printed(d))
		if sameJSON(text, output) {
			return i, true
		}
		if sameJSON(text[bytes.LastIndexByte(text, '\n')+1:], output) {
			return i, false
		}
	}
	return -1, false
}

// sameJSON compares two values, whatever their spelling.
func sameJSON(a, b []byte) bool {
	x, errA := canonical(a)
	y, errB := canonical(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

func canonical(b []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("more than one value")
	}
	return json.Marshal(v)
}

// reviews finds the marks in what was written.
func reviews(script []byte) []Review {
	var list []Review
	for i, line := range strings.Split(string(script), "\n") {
		if text, ok := strings.CutPrefix(line, "# REVIEW: "); ok {
			list = append(list, Review{i + 1, text})
		}
	}
	return list
}
