package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/state"
)

func newArtifactGetCmd(a *app) *cobra.Command {
	var ref, step, out string
	cmd := &cobra.Command{
		Use:   "get [[STEP/]NAME|DIGEST…]",
		Short: "Write artifacts of a run below a directory",
		Long: "get writes the named artifacts, or all of them, below a directory. One is named by what it is called, with its\n" +
			"step where several have that name, or by the first digits of its digest, six or more. Every byte is checked\n" +
			"against the ledger's digest. Nothing is overwritten, no link below the directory is followed, and no file is\n" +
			"executable. What some system would not take for a plain name is written as %XX.",
		Args: cobra.ArbitraryArgs,
		Example: "  joy artifact get report.html\n" +
			"  joy artifact get render/report.html 5891b5b522d5 -o out\n" +
			"  joy artifact get --run 20261124-180300-k3fq2a --step render -o out",
		RunE: func(_ *cobra.Command, args []string) error {
			left, dir, err := a.leftBy(ref)
			if err != nil {
				return err
			}
			if step != "" {
				left.keepStep(step)
			}
			chosen, err := left.choose(args)
			if err == nil && len(args) == 0 && len(chosen) == 0 {
				err = fault.New(fault.Input, "run %s left no artifact%s", left.Run, ofStep(step)).WithHint("joy artifact list %s", left.Run)
			}
			if err != nil {
				return err
			}
			if gone := readMaintenance(state.OpenIndex(a.cfg.Dirs.State), left.dir, left.Run, "").text(); gone != "" {
				return fault.New(fault.Input, "run %s has none any more: %s", left.Run, gone)
			}
			store, err := artifact.OpenExisting(dir.ObjectsDir())
			if err != nil {
				return err
			}
			defer store.Close()
			return a.writeArtifacts(store, left.Run, chosen, out)
		},
	}
	cmd.Flags().StringVar(&ref, "run", "", "of `RUN` instead of the latest")
	cmd.Flags().StringVar(&step, "step", "", "only what the step `ID` left")
	cmd.Flags().StringVarP(&out, "output", "o", ".", "write below `DIR`, which is made when it is missing")
	return cmd
}

func ofStep(step string) string {
	if step == "" {
		return ""
	}
	return " of step " + step
}

// keepStep forgets what other steps left.
func (l *leftovers) keepStep(step string) {
	l.Artifacts = slices.DeleteFunc(l.Artifacts, func(s storedArtifact) bool { return s.Step != step })
	l.Skipped = slices.DeleteFunc(l.Skipped, func(s skippedArtifact) bool { return s.Step != step })
	l.Quarantined = slices.DeleteFunc(l.Quarantined, func(s withheldArtifact) bool { return s.Step != step })
}

// chosenArtifact is an artifact and the slash path to write it to.
type chosenArtifact struct {
	storedArtifact
	Path string `json:"path"`
}

// choose finds the artifacts that names mean, each once, and refuses two for one path. Without names it takes all, below
// a directory for each step.
func (l *leftovers) choose(names []string) (list []chosenArtifact, err error) {
	if len(names) == 0 {
		for _, art := range l.Artifacts {
			list = append(list, chosenArtifact{art, artifact.SafePath(art.path())})
		}
	}
	for _, name := range names {
		art, err := l.find(name)
		if err != nil {
			return nil, err
		}
		one := chosenArtifact{art, artifact.SafePath(art.Name)}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	taken := map[string]string{} // by path; file systems differ in whether case tells names apart
	for _, one := range list {
		folded := strings.ToLower(one.Path)
		if other, ok := taken[folded]; ok {
			return nil, fault.New(fault.Input, "%q and %q would both be %s", other, one.path(), one.Path).
				WithHint("get them one at a time, each below a directory of its own")
		}
		taken[folded] = one.path()
	}
	return list, nil
}

// digits are the first ones of a digest.
var digits = regexp.MustCompile(`^(sha256:)?([0-9a-f]{6,64})$`)

// find is the one artifact that a name means: STEP/NAME, NAME, or else the beginning of a digest.
func (l *leftovers) find(name string) (storedArtifact, error) {
	found := l.matching(func(s storedArtifact) bool { return s.path() == name })
	if len(found) == 0 {
		found = l.matching(func(s storedArtifact) bool { return s.Name == name })
	}
	if m := digits.FindStringSubmatch(name); m != nil && len(found) == 0 {
		found = l.matching(func(s storedArtifact) bool { return strings.HasPrefix(s.SHA256, "sha256:"+m[2]) })
	}
	switch len(found) {
	case 0:
		return storedArtifact{}, l.missing(name)
	case 1:
		return found[0], nil
	}
	var paths []string
	for _, s := range found[:min(len(found), 8)] {
		paths = append(paths, s.path())
	}
	if more := len(found) - len(paths); more > 0 {
		paths = append(paths, count(more, "other"))
	}
	return storedArtifact{}, fault.New(fault.Input, "%q means %d artifacts", name, len(found)).WithHint("say which: %s", strings.Join(paths, ", "))
}

func (l *leftovers) matching(is func(storedArtifact) bool) (found []storedArtifact) {
	for _, s := range l.Artifacts {
		if is(s) {
			found = append(found, s)
		}
	}
	return found
}

// missing says what became of a file that is no artifact.
func (l *leftovers) missing(name string) error {
	for _, q := range l.Quarantined {
		if q.Name == name || q.Step+"/"+q.Name == name {
			return fault.New(fault.Policy, "%q of step %s was quarantined, and no byte of it kept: %s", q.Name, q.Step, q.why())
		}
	}
	for _, s := range l.Skipped {
		if s.Name != "" && (s.Name == name || s.Step+"/"+s.Name == name) {
			e := fault.New(fault.Input, "%q of step %s was not kept: %s", s.Name, s.Step, s.Reason)
			if limit, ok := capOf[s.Reason]; ok {
				e.Hint = "policy.artifacts." + limit + " in joy.yaml, and run again"
			}
			return e
		}
	}
	return fault.New(fault.Input, "run %s left no artifact %q", l.Run, name).WithHint("joy artifact list %s", l.Run)
}

// capOf is the cap that a reason speaks of.
var capOf = map[string]string{"too-large": "max_file", "total": "max_total", "count": "max_files"}
