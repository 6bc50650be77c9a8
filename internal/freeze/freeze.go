// Package freeze makes a declared script of what a model did in a good run: its files, its scripts and its calls, in their
// order.
//
// The one rule: what it writes does what the record says was done, or says where it may not. Nothing is guessed: a value that
// could have come from the input and cannot be read from there safely, and an answer that no script printed, are marked REVIEW.
package freeze

import (
	"encoding/json"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// Kinds of a Deed.
const (
	Script = "script"
	File   = "file"
	Call   = "call"
)

// Deed is one thing that a model did, as the ledger has it.
type Deed struct {
	Kind string
	Seq  int64 // of the entry

	Text string // of a script
	Nth  int    // of the step's commands, from 1: its kept output is STEP.NTH.stdout
	Exit string // "exit 0"; how it ended without a status; "" when nobody knows

	Path   string // of a file, in the VM
	Digest string // of a file's content, or of a call's arguments
	Action string // of a call
	OK     bool   // a script that exited with 0, a file, a call that was answered
}

// Record is what a ledger tells of one step. The zero value with a Step takes entries.
type Record struct {
	Step  string
	Deeds []Deed

	Output string // digest of the step's result; "": none is on record
	Input  string // digest of the step's input; "": none is on record

	status, kind string
	commands     int
	at           map[int64]int // seq of a start to its Deed
}

// Add takes the ledger's entries one after the other.
func (r *Record) Add(e verify.Entry) {
	if e.Step != r.Step {
		return
	}
	switch e.Type {
	case "step.started":
		r.kind = e.String("kind")
	case "step.finished":
		r.status, r.Output = e.String("status"), digestOf(e, "output")
	case "command.started":
		if d := digestOf(e, "input"); d != "" {
			r.Input = d
		}
		r.commands++
		r.begin(e, Deed{Kind: Script, Text: whole(e), Nth: r.commands})
	case "command.finished":
		exit, ended := e.Int("exit")
		text := e.String("ended_by")
		if ended {
			text = "exit " + fieldOf(e, "exit")
		}
		r.end(e, text, ended && exit == 0)
	case "file.written":
		r.Deeds = append(r.Deeds, Deed{Kind: File, Seq: e.Seq, Path: e.String("path"), Digest: e.String("sha256"), OK: e.Data["scrubbed"] != true})
	case "tool.requested":
		r.begin(e, Deed{Kind: Call, Action: e.String("action"), Digest: digestOf(e, "arguments")})
	case "tool.returned":
		r.end(e, "", e.Data["failed"] != true && e.String("error") == "")
	}
}

func (r *Record) begin(e verify.Entry, d Deed) {
	if r.at == nil {
		r.at = map[int64]int{}
	}
	d.Seq = e.Seq
	r.at[e.Seq] = len(r.Deeds)
	r.Deeds = append(r.Deeds, d)
}

func (r *Record) end(e verify.Entry, exit string, ok bool) {
	of, _ := e.Int("of")
	if i, known := r.at[of]; known {
		r.Deeds[i].Exit, r.Deeds[i].OK = exit, ok
	}
}

// Check says why nothing can be made of the step. Errors are of kind Input.
func (r *Record) Check(run string) error {
	switch {
	case r.kind == "":
		return fault.New(fault.Input, "run %s has no step %s that began", run, r.Step).WithHint("joy ledger show %s --type step shows them", run)
	case r.kind != "model":
		return fault.New(fault.Input, "step %s is of kind %s: only what a model did can be frozen", r.Step, r.kind)
	case r.status != "succeeded":
		return fault.New(fault.Input, "step %s did not succeed in run %s", r.Step, run).WithHint("name a good run with --from: joy ledger list")
	}
	done := 0
	for _, d := range r.Deeds {
		if d.Kind == File && (!d.OK || strings.Contains(d.Path, redacted)) || d.Kind == Script && (d.Text == "" || strings.Contains(d.Text, redacted)) {
			return withheld(d)
		}
		if d.OK {
			done++
		}
	}
	if done == 0 {
		return fault.New(fault.Input, "the model of step %s did nothing in the VM: its answer is its own words, and no script says them again", r.Step)
	}
	return nil
}

// redacted begins what stands in the record in place of a secret.
const redacted = "[REDACTED"

// withheld refuses a deed of which the record has not all.
func withheld(d Deed) error {
	what := "the script"
	if d.Kind != Script {
		what = "the " + d.Kind + " " + d.Path + d.Action
	}
	return fault.New(fault.Input, "%s at entry %d held a secret, and the record has [REDACTED:…] in its place: it cannot be repeated", what, d.Seq).
		WithHint("have the model read the value from $JOY_INPUT_… or call the action, run again, and freeze that run")
}

// whole is a command's text, or "" when the record has not exactly what ran.
func whole(e verify.Entry) string {
	text := e.String("command")
	if n, _ := e.Int("bytes"); n != int64(len(text)) {
		return ""
	}
	return text
}

func digestOf(e verify.Entry, name string) string {
	m, _ := e.Data[name].(map[string]any)
	sum, _ := m["sha256"].(string)
	return sum
}

func fieldOf(e verify.Entry, name string) string {
	b, _ := json.Marshal(e.Data[name])
	return string(b)
}
