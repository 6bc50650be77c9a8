package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/term"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
)

func newArtifactCmd(a *app) *cobra.Command {
	return group("artifact", "List and fetch what a run produced",
		"  joy artifact list\n"+
			"  joy artifact get report.html -o out",
		newArtifactListCmd(a), newArtifactGetCmd(a))
}

// storedArtifact is one artifact.stored entry.
type storedArtifact struct {
	Step   string `json:"step"`
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Media  string `json:"media,omitempty"` // by the bytes, not by the name
}

// path is what tells an artifact from all others of its run.
func (s storedArtifact) path() string { return s.Step + "/" + s.Name }

// skippedArtifact is one artifact.skipped entry: a file of out/, or how many more were skipped for the same reason.
type skippedArtifact struct {
	Step   string `json:"step"`
	Name   string `json:"name,omitempty"`
	Bytes  *int64 `json:"bytes,omitempty"`
	Reason string `json:"reason"`
	Count  int64  `json:"count,omitempty"`
}

// withheldArtifact is one artifact.quarantined entry.
type withheldArtifact struct {
	Step   string `json:"step"`
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Secret string `json:"secret,omitempty"` // that joy was told of
	Rule   string `json:"rule,omitempty"`   // what took something in it for a secret
	Form   string `json:"form,omitempty"`
	Reason string `json:"reason,omitempty"` // why it could not be looked into
}

// why is the reason in words.
func (w withheldArtifact) why() string {
	switch {
	case w.Secret != "":
		return fmt.Sprintf("it holds %s (%s)", w.Secret, w.Form)
	case w.Rule != "":
		return "it holds what looks like a secret (" + w.Rule + ")"
	}
	return w.Reason
}

// leftovers is all that the ledger of a run says about what its steps left in out/.
type leftovers struct {
	Schema      string             `json:"schema"`
	Run         string             `json:"run"`
	Artifacts   []storedArtifact   `json:"artifacts"`
	Skipped     []skippedArtifact  `json:"skipped"`
	Quarantined []withheldArtifact `json:"quarantined"`

	dir string // of the run
}

func newArtifactListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list [RUN]",
		Short: "List the artifacts of a run, the latest by default",
		Long: "List the artifacts of a run, the latest by default, and what its steps left in out/ beside them: what was\n" +
			"skipped or quarantined, and why. KIND is what the bytes look like, whatever the name says.",
		Args:              argsBetween(0, 1, "one run"),
		ValidArgsFunction: a.completeRuns,
		Example: "  joy artifact list\n" +
			"  joy artifact list 20261124-180300-k3fq2a --json",
		RunE: func(_ *cobra.Command, args []string) error {
			left, _, err := a.leftBy(firstArg(args))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(left)
			}
			return a.showLeft(left)
		},
	}
}

func (a *app) showLeft(left leftovers) error {
	t := a.out.newTable("STEP", "NAME", "SIZE", "SHA256", "KIND")
	for _, art := range left.Artifacts {
		t.row(plain(art.Step, art.Name, term.Size(art.Bytes), firstDigits(art.SHA256), art.Media)...)
	}
	for _, q := range left.Quarantined {
		cells := plain(q.Step, q.Name, term.Size(q.Bytes), "", "quarantined: "+q.why())
		cells[4].style = &a.out.warn
		t.row(cells...)
	}
	for _, s := range left.Skipped {
		cells := plain(s.Step, s.Name, "", "", "skipped: "+s.Reason)
		if s.Count > 0 {
			cells[1].text = fmt.Sprintf("(%d more)", s.Count)
		}
		if s.Bytes != nil {
			cells[2].text = term.Size(*s.Bytes)
		}
		cells[4].style = &a.out.warn
		t.row(cells...)
	}
	return t.print()
}

// firstDigits are those of a digest that people compare.
func firstDigits(digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return hex[:min(len(hex), 12)]
}

// leftBy reads what a run left from its ledger: the store knows bytes, the ledger knows what they are.
func (a *app) leftBy(ref string) (leftovers, *state.Dir, error) {
	left := leftovers{Schema: "joy.artifact-list/1", Artifacts: []storedArtifact{}, Skipped: []skippedArtifact{}, Quarantined: []withheldArtifact{}}
	dir, run, err := a.resolveRun(ref)
	if err != nil {
		return left, nil, err
	}
	left.Run, left.dir = run.ID, run.Dir
	f, err := openRunLedger(run)
	if err != nil {
		return left, nil, err
	}
	defer f.Close()
	rep, err := verify.Check(f, verify.Options{Each: left.take})
	slices.SortStableFunc(left.Artifacts, func(a, b storedArtifact) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Name, b.Name))
	})
	if err == nil && rep.State == verify.Broken {
		err = ledgerFault(a.relative(run.Dir), rep)
	}
	return left, dir, err
}

func (l *leftovers) take(e verify.Entry) {
	n, sized := e.Int("bytes")
	switch e.Type {
	case "artifact.stored":
		l.Artifacts = append(l.Artifacts, storedArtifact{e.Step, e.String("name"), n, e.String("sha256"), e.String("media")})
	case "artifact.skipped":
		count, _ := e.Int("count")
		s := skippedArtifact{Step: e.Step, Name: e.String("name"), Reason: e.String("reason"), Count: count}
		if sized {
			s.Bytes = &n
		}
		l.Skipped = append(l.Skipped, s)
	case "artifact.quarantined":
		l.Quarantined = append(l.Quarantined, withheldArtifact{
			e.Step, e.String("name"), n, e.String("secret"), e.String("rule"), e.String("form"), e.String("reason"),
		})
	}
}
