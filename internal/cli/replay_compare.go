package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/replay"
	"github.com/joystream-ai/joy/internal/runner"
)

// maxCompared bounds what of an output or artifact is read to find the first byte that differs.
const maxCompared = 64 << 20

// replayJSON is the document of `joy replay --json`.
type replayJSON struct {
	Schema      string               `json:"schema"`
	Of          string               `json:"of"`
	Run         string               `json:"run"`
	Same        bool                 `json:"same"`
	Steps       ratio                `json:"steps"`
	Artifacts   ratio                `json:"artifacts"`
	First       string               `json:"first,omitempty"` // difference, in words
	Differences []account.Difference `json:"differences"`
}

// ratio is how many of how many are the same.
type ratio struct {
	Same int `json:"same"`
	Of   int `json:"of"`
}

func (r ratio) String() string { return fmt.Sprintf("%d/%d", r.Same, r.Of) }

// sayReplay compares the replay with what it repeated, and says the first difference.
func (a *app) sayReplay(rec *record, was *pastRun, out runner.Outcome) error {
	doc, err := a.compareReplay(rec, was, out)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(doc)
	} else {
		err = a.out.Printf("%s", doc.counts())
	}
	if err != nil || doc.Same {
		return err
	}
	if !a.json {
		err = a.out.Printf("first: %s", doc.First)
	}
	if err == nil {
		err = exit(1)
	}
	return err
}

// sayExercise says for people where a changed plan parts from the run on record. That is no failure: what was changed is to do
// something else.
func (a *app) sayExercise(rec *record, was *pastRun, out runner.Outcome) error {
	doc, err := a.compareReplay(rec, was, out)
	if err != nil {
		return err
	}
	words := doc.counts()
	if !doc.Same {
		words += "; first: " + doc.First
	}
	a.say("against run %s: %s", doc.Of, words)
	return nil
}

// compareReplay compares a run with the one that it repeated, by their ledgers. That a plan is another is no difference in what
// it did.
func (a *app) compareReplay(rec *record, was *pastRun, out runner.Outcome) (replayJSON, error) {
	f, err := openRunLedger(rec.run)
	if err != nil {
		return replayJSON{}, err
	}
	defer f.Close()
	now := account.NewRun()
	if _, err := verify.Check(f, verify.Options{Each: now.Add}); err != nil {
		return replayJSON{}, fault.Wrap(fault.Platform, err, "read the ledger of the replay")
	}
	differences := slices.DeleteFunc(account.Compare(was.record.Account, now).Differences, func(d account.Difference) bool {
		return d.Step == "" && d.What == "plan"
	})
	doc := replayJSON{
		Schema: "joy.replay/1", Of: was.record.Run, Run: rec.run.ID, Differences: differences,
		Steps: sameSteps(stepsOf(was.target.plan), differences), Artifacts: sameArtifacts(was.ledger, differences),
	}
	if doc.First = was.record.Unasked(); len(differences) > 0 {
		doc.First = a.firstWords(rec, was, differences, out.Failure)
	}
	doc.Same = doc.First == ""
	return doc, nil
}

// firstWords say where two runs part. How each ended follows from what is further down. Where a model or a tool was asked something
// else, that is told with its byte, after what a command had printed otherwise by then; and so is what ended only the replay.
func (a *app) firstWords(rec *record, was *pastRun, list []account.Difference, f *runner.Failure) string {
	first := list[0]
	if i := slices.IndexFunc(list, func(d account.Difference) bool { return d.Step != "" }); i >= 0 && first.What == "outcome" {
		first = list[i]
	}
	words := a.differenceWords(rec, was, first)
	if f == nil {
		return words
	}
	failed := f.Err.Error()
	if f.Step != "" {
		failed = "step " + f.Step + ": " + failed
	}
	cause := strings.HasPrefix(first.What, "command") || strings.HasPrefix(first.What, "std")
	switch {
	case f.Kind != fault.Agent, was.record.Parted() && !cause:
		return failed
	case was.record.Parted():
		return words + "; then " + failed
	}
	return words
}

func (d replayJSON) counts() string {
	word := "differs"
	if d.Same {
		word = "same"
	}
	return fmt.Sprintf("%s: %s steps, %s artifacts", word, d.Steps, d.Artifacts)
}

func sameSteps(ids []string, ds []account.Difference) ratio {
	r := ratio{Of: len(ids)}
	for _, id := range ids {
		if !slices.ContainsFunc(ds, func(d account.Difference) bool { return d.Step == id }) {
			r.Same++
		}
	}
	return r
}

// sameArtifacts counts those of the past run.
func sameArtifacts(ledger []byte, ds []account.Difference) ratio {
	var r ratio
	_, _ = verify.Check(bytes.NewReader(ledger), verify.Options{Each: func(e verify.Entry) { // it was read before
		if e.Type != "artifact.stored" {
			return
		}
		r.Of++
		if !slices.ContainsFunc(ds, func(d account.Difference) bool {
			return d.Step == e.Step && strings.HasPrefix(d.What, "artifact") && d.Name == e.String("name")
		}) {
			r.Same++
		}
	}})
	return r
}

// differenceWords says where two runs part: the step, which command, and, where both have the bytes, at which of them.
func (a *app) differenceWords(rec *record, was *pastRun, d account.Difference) string {
	words := strings.TrimSpace(d.What + " " + d.Name)
	switch d.What {
	case "stdout", "stderr":
		words = d.What + " of command " + d.Name
	case "command end", "command input":
		words = strings.TrimPrefix(d.What, "command ") + " of command " + d.Name
	}
	if d.Step != "" {
		words = "step " + d.Step + ": " + words
	}
	switch d.In {
	case "a":
		return words + " is missing"
	case "b":
		return words + " was not there"
	}
	if at, ok := a.firstByte(rec, was, d); ok {
		return fmt.Sprintf("%s differs from byte %d on", words, at)
	}
	return fmt.Sprintf("%s: %s, and was %s", words, bareDigests(d.B), bareDigests(d.A)) // differences has them whole
}

// firstByte is where a command's output or an artifact differs.
func (a *app) firstByte(rec *record, was *pastRun, d account.Difference) (int, bool) {
	stream := ""
	for _, s := range []string{"stdout", "stderr"} {
		if strings.HasSuffix(d.What, s) {
			stream = s
		}
	}
	switch {
	case stream != "" && was.logs != "":
		name := d.Step + "." + d.Name + "." + stream
		then, err1 := readStart(openPlain(was.logs, name))
		now, err2 := readStart(openPlain(rec.logsDir(), name))
		return replay.Part(then, now), err1 == nil && err2 == nil
	case strings.HasPrefix(d.What, "artifact"):
		then, err1 := readStart(rec.objects.Open(digestIn(d.A)))
		now, err2 := readStart(rec.objects.Open(digestIn(d.B)))
		return replay.Part(then, now), err1 == nil && err2 == nil
	}
	return 0, false
}

// digestIn is the digest that a difference's words name.
func digestIn(words string) string {
	i := strings.Index(words, "sha256:")
	if i < 0 {
		return ""
	}
	return words[i:min(len(words), i+len("sha256:")+64)]
}

func readStart[R io.ReadCloser](r R, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxCompared))
}
