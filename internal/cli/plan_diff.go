package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/git"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/state"
)

// codeWidens is the code of a difference that lets a run do more, where that was not to be.
const codeWidens = "JOY-WIDENS"

func newPlanDiffCmd(a *app) *cobra.Command {
	var failOn string
	cmd := &cobra.Command{
		Use:   "diff [DIR|LOCK|RUN] [OTHER|REVISION]",
		Short: "Say what changed in a plan, and what lets a run do more",
		Long: "diff compares a lock with another one, or with the lock that a git revision has (default HEAD). What lets a run\n" +
			"do more than before is marked with !. Git objects are read as files: git is not run, and nothing else is.\n" +
			"A path wins over a revision of the same name; refs/heads/NAME and refs/tags/NAME are never paths.",
		Args: argsBetween(0, 2, "two plans"),
		Example: "  joy plan diff\n" +
			"  joy plan diff . main --fail-on widen\n" +
			"  joy plan diff old/joy.lock new/joy.lock",
		RunE: func(cmd *cobra.Command, args []string) error {
			if failOn != "" && failOn != "widen" {
				return usagef(cmd, "--fail-on %q: it is widen", failOn)
			}
			return a.planDiff(args, failOn == "widen")
		},
	}
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit 5 on `WHAT`: widen, when a run may do more than before")
	return cmd
}

// side is one of two plans, and how to speak of it.
type side struct {
	plan   *plan.Plan
	Name   string `json:"name"`
	Commit string `json:"commit,omitempty"`
	Digest string `json:"plan_digest"` // "" for a plan that is not there
}

func (a *app) planDiff(args []string, failWiden bool) error {
	arg, other := firstArg(args), "HEAD"
	switch {
	case len(args) == 2:
		other = args[1]
	case len(args) == 1 && !a.isPlace(arg):
		arg, other = "", arg
	}
	t, err := a.loadTarget(arg)
	if err != nil {
		return err
	}
	old, err := a.otherSide(a.lockFile(arg), other, t.plan)
	if err != nil {
		return err
	}
	return a.showDiff(old, side{plan: t.plan, Name: t.name, Digest: t.plan.Digest}, failWiden)
}

// isPlace tells a path or a run from a revision. A path wins: it is what a person can see.
func (a *app) isPlace(arg string) bool {
	return a.isPath(arg) || state.ValidID(arg)
}

func (a *app) isPath(arg string) bool {
	_, err := os.Stat(a.abs(arg))
	return err == nil
}

// lockFile is the absolute path of the lock of arg; that of a run is the project's.
func (a *app) lockFile(arg string) string {
	if arg == "" || state.ValidID(arg) && !a.isFile(arg) {
		arg = "."
	}
	if path := a.abs(arg); a.isFile(arg) {
		return path
	}
	return filepath.Join(a.abs(arg), build.LockName)
}

func (a *app) isFile(arg string) bool {
	info, err := os.Stat(a.abs(arg))
	return err == nil && !info.IsDir()
}

// otherSide is the lock to compare with. A revision in which the lock is not there yet is compared as a plan that does
// nothing.
func (a *app) otherSide(lock, other string, now *plan.Plan) (side, error) {
	if a.isPlace(other) {
		t, err := a.loadTarget(other)
		if err != nil {
			return side{}, err
		}
		return side{plan: t.plan, Name: t.name, Digest: t.plan.Digest}, nil
	}
	name, commit, data, err := fromGit(lock, other)
	switch {
	case errors.Is(err, git.ErrNone), errors.Is(err, git.ErrNotFound) && commit == "":
		return side{}, fault.Wrap(fault.Input, err, "compare with %s", other).
			WithHint("name a lock, a project, a run, or a revision of this repository")
	case errors.Is(err, git.ErrNotFound):
		a.say("note: %s is not there; everything counts as new", name)
		return side{plan: plan.Nothing(now), Name: name, Commit: commit}, nil
	case err != nil:
		return side{}, fault.Wrap(fault.Input, err, "compare with %s", other)
	}
	p, err := plan.Decode(data, name)
	if err != nil {
		return side{}, err
	}
	return side{plan: p, Name: name, Commit: commit, Digest: p.Digest}, nil
}

// fromGit reads the file (absolute) as a revision has it. name is REVISION:PATH; commit is "" when there is none.
func fromGit(file, revision string) (name, commit string, data []byte, err error) {
	repo, err := git.Open(filepath.Dir(file))
	if err != nil {
		return "", "", nil, err
	}
	defer repo.Close()
	rel, err := repo.Rel(file)
	if err != nil {
		return "", "", nil, err
	}
	name = revision + ":" + rel
	c, err := repo.Resolve(revision)
	if err != nil {
		return name, "", nil, err
	}
	data, err = repo.File(c, rel)
	if errors.Is(err, fs.ErrNotExist) { // of git's own files, not of the lock
		err = errors.New(err.Error())
	}
	return name, string(c), data, err
}
