package cli

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/fault"
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
}

func newArtifactListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "list [RUN]",
		Short:             "List the artifacts of a run, the latest by default",
		Args:              argsBetween(0, 1, "one run"),
		ValidArgsFunction: a.completeRuns,
		Example: "  joy artifact list\n" +
			"  joy artifact list 20261124-180300-k3fq2a --json",
		RunE: func(_ *cobra.Command, args []string) error {
			run, list, _, err := a.artifactsOf(firstArg(args))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Schema    string           `json:"schema"`
					Run       string           `json:"run"`
					Artifacts []storedArtifact `json:"artifacts"`
				}{"joy.artifact-list/1", run.ID, list})
			}
			t := a.out.newTable("STEP", "NAME", "SIZE", "SHA256")
			for _, art := range list {
				t.row(plain(art.Step, art.Name, sizeText(art.Bytes), strings.TrimPrefix(art.SHA256, "sha256:")[:12])...)
			}
			return t.print()
		},
	}
}

// artifactsOf reads the artifacts of a run from its ledger: the store knows bytes, the ledger knows what they are.
func (a *app) artifactsOf(ref string) (state.Run, []storedArtifact, *state.Dir, error) {
	dir, run, err := a.resolveRun(ref)
	if err != nil {
		return run, nil, nil, err
	}
	f, err := openRunLedger(run)
	if err != nil {
		return run, nil, nil, err
	}
	defer f.Close()
	list := []storedArtifact{}
	rep, err := verify.Check(f, verify.Options{Each: func(e verify.Entry) {
		if e.Type == "artifact.stored" {
			n, _ := e.Int("bytes")
			list = append(list, storedArtifact{e.Step, e.String("name"), n, e.String("sha256")})
		}
	}})
	slices.SortFunc(list, func(a, b storedArtifact) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Name, b.Name))
	})
	if err == nil && rep.State == verify.Broken {
		err = ledgerFault(a.relative(run.Dir), rep)
	}
	return run, list, dir, err
}

func newArtifactGetCmd(a *app) *cobra.Command {
	var ref, out string
	cmd := &cobra.Command{
		Use:   "get [[STEP/]NAME…]",
		Short: "Write artifacts of a run below a directory",
		Long: "get writes the named artifacts, or all of them, below a directory. Every byte is checked against the ledger's\n" +
			"digest. Nothing is overwritten, and no file is executable.",
		Args: cobra.ArbitraryArgs,
		Example: "  joy artifact get report.html\n" +
			"  joy artifact get render/report.html -o out\n" +
			"  joy artifact get --run 20261124-180300-k3fq2a -o out",
		RunE: func(_ *cobra.Command, args []string) error {
			run, list, dir, err := a.artifactsOf(ref)
			if err != nil {
				return err
			}
			chosen, err := choose(run, list, args)
			if err != nil {
				return err
			}
			return a.getArtifacts(dir, run, chosen, out)
		},
	}
	cmd.Flags().StringVar(&ref, "run", "", "of `RUN` instead of the latest")
	cmd.Flags().StringVarP(&out, "output", "o", ".", "write below `DIR`, which is made when it is missing")
	return cmd
}

// choose finds the artifacts that names mean: STEP/NAME, or NAME when only one step has left it. The key is the path
// to write to.
func choose(run state.Run, list []storedArtifact, names []string) (map[string]storedArtifact, error) {
	chosen := map[string]storedArtifact{}
	if len(names) == 0 {
		for _, art := range list {
			chosen[art.Step+"/"+art.Name] = art
		}
		return chosen, nil
	}
	for _, name := range names {
		var found []storedArtifact
		var steps []string
		for _, art := range list {
			if art.Name == name || art.Step+"/"+art.Name == name {
				found = append(found, art)
				steps = append(steps, art.Step+"/"+art.Name)
			}
		}
		switch len(found) {
		case 0:
			return nil, fault.New(fault.Input, "run %s left no artifact %q", run.ID, name).WithHint("joy artifact list %s", run.ID)
		case 1:
			chosen[found[0].Name] = found[0]
		default:
			return nil, fault.New(fault.Input, "%q is the name of several artifacts", name).WithHint("say which: %s", strings.Join(steps, ", "))
		}
	}
	return chosen, nil
}

func (a *app) getArtifacts(dir *state.Dir, run state.Run, chosen map[string]storedArtifact, out string) error {
	if gone := readMaintenance(state.OpenIndex(a.cfg.Dirs.State), run.Dir, run.ID, "").text(); gone != "" {
		return fault.New(fault.Input, "run %s has none any more: %s", run.ID, gone)
	}
	store, err := artifact.OpenExisting(dir.ObjectsDir())
	if err != nil {
		return err
	}
	defer store.Close()
	if err := os.MkdirAll(a.abs(out), 0o700); err != nil {
		return fault.Wrap(fault.Input, err, "make the directory")
	}
	root, err := os.OpenRoot(a.abs(out))
	if err != nil {
		return fault.Wrap(fault.Input, err, "open the directory")
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		if err := writeArtifact(root, store, name, chosen[name].SHA256); err != nil {
			return err
		}
		if err := a.out.Printf("%s", path.Join(out, name)); err != nil {
			return err
		}
	}
	return nil
}

// writeArtifact writes one below root, whatever its name says, and leaves nothing when it cannot be whole.
func writeArtifact(root *os.Root, store *artifact.Store, name, digest string) (err error) {
	r, err := store.Open(digest)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fault.Wrap(fault.Input, err, "make a directory for %s", name)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Input, "%s exists already", name).WithHint("name another directory with -o")
	}
	if err != nil {
		return fault.Wrap(fault.Input, err, "write %s", name)
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, root.Remove(name))
	}
	return err
}
