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
	"github.com/joystream-ai/joy/internal/term"
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

// sayReplay compares the replay with what it repeated, by their ledgers, and says the first difference.
func (a *app) sayReplay(rec *record, was *pastRun, out runner.Outcome) error {
	f, err := openRunLedger(rec.run)
	if err != nil {
		return err
	}
	defer f.Close()
	now := account.NewRun()
	if _, err := verify.Check(f, verify.Options{Each: now.Add}); err != nil {
		return fault.Wrap(fault.Platform, err, "read the ledger of the replay")
	}
	differences := account.Compare(was.record.Account, now).Differences
	doc := replayJSON{
		Schema: "joy.replay/1", Of: was.record.Run, Run: rec.run.ID, Differences: differences,
		Steps: sameSteps(stepsOf(was.target.plan), differences), Artifacts: sameArtifacts(was.ledger, differences),
	}
	switch unasked := was.record.Unasked(); {
	case out.Failure != nil && len(differences) > 0:
		doc.First = firstWords(out.Failure)
	case len(differences) > 0:
		doc.First = a.differenceWords(rec, was, differences[0])
	case unasked != "":
		doc.First = unasked
	}
	doc.Same = doc.First == ""
	if a.json {
		err = a.printJSON(doc)
	} else {
		err = a.out.Printf("%s", replayText(doc))
	}
	if err == nil && !doc.Same {
		err = exit(1)
	}
	return err
}

func replayText(d replayJSON) string {
	counts := fmt.Sprintf("%s steps, %s artifacts", d.Steps, d.Artifacts)
	if d.Same {
		return "same: " + counts
	}
	return "differs: " + counts + "\nfirst: " + term.Line(d.First)
}

func firstWords(f *runner.Failure) string {
	if f.Step == "" {
		return f.Err.Error()
	}
	return "step " + f.Step + ": " + f.Err.Error()
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
	words := d.What
	if d.Name != "" {
		words += " " + d.Name
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
	return fmt.Sprintf("%s: %s, and was %s", words, d.B, d.A)
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
