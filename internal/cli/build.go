package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
)

type buildOptions struct {
	check, strict bool
	out           string
	update        []string
}

// updates are the outside pins that --update can let go.
var updates = []string{"image", "tools", "template"}

func newBuildCmd(a *app) *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Freeze an agent or a bundle into joy.lock",
		Long: "build reads joy.yaml and its bundles, or a single bundle, and writes down what a run will do: every file by\n" +
			"digest, and for each step whether it needs the VM, and why. For tools that are granted and not pinned yet it\n" +
			"starts or contacts their connections, which needs joy trust; else, and with --check, it starts nothing.",
		Args: argsBetween(0, 2, "one directory"),
		Example: "  joy build\n" +
			"  joy build --check\n" +
			"  joy build skills/count -o -",
		RunE: func(cmd *cobra.Command, args []string) error {
			args = o.takeUpdate(cmd, args)
			if err := argsBetween(0, 1, "one directory")(cmd, args); err != nil {
				return err
			}
			if i := slices.IndexFunc(o.update, func(u string) bool { return !slices.Contains(updates, u) }); i >= 0 {
				return usagef(cmd, "--update %q: it is image, tools or template", o.update[i])
			}
			if o.out == "-" && a.json {
				return usagef(cmd, "-o - and --json both want stdout")
			}
			if o.check {
				return a.buildCheck(cmd.Context(), firstArg(args), o)
			}
			return a.build(cmd.Context(), firstArg(args), o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.check, "check", false, "write nothing; exit 3 when the lock is missing or stale")
	flags.BoolVar(&o.strict, "strict", false, "take every warning as an error, and the Agent Skills spec to the letter")
	flags.StringVarP(&o.out, "output", "o", "", "write the lock to `FILE` (- for stdout); with --check the report (.json, .sarif)")
	flags.StringSliceVar(&o.update, "update", nil, "resolve outside pins again: `WHAT` is image, tools or template")
	flags.Lookup("update").NoOptDefVal = strings.Join(updates, ",")
	return cmd
}

// takeUpdate lets "--update image" mean what "--update=image" does: a flag whose value may be left out takes none from
// the next word. A directory of such a name is written ./image.
func (o *buildOptions) takeUpdate(cmd *cobra.Command, args []string) []string {
	at := slices.IndexFunc(args, func(arg string) bool { return slices.Contains(updates, arg) })
	if at < 0 || !cmd.Flags().Changed("update") || !slices.Equal(o.update, updates) {
		return args
	}
	o.update = args[at : at+1]
	return slices.Concat(args[:at], args[at+1:])
}

// project is the directory a build works on, and its lock.
type project struct {
	dir      string // absolute
	shown    string // dir as it was written; "" for the one joy works in
	lockPath string
	lockName string // as messages call it
}

func (a *app) project(arg string) (project, error) {
	if arg == "" {
		arg = "."
	}
	dir := a.abs(arg)
	if err := isDir(dir); err != nil {
		return project{}, fault.Wrap(fault.Input, err, "open %s", arg).WithHint("name the directory of an agent or of a bundle")
	}
	return project{dir, filepath.ToSlash(filepath.Clean(arg)), filepath.Join(dir, build.LockName), filepath.ToSlash(filepath.Join(arg, build.LockName))}, nil
}

// place is a file of the project as a person at the terminal calls it.
func (p project) place(file string) string {
	if file == "" || file == p.dir {
		return p.shown
	}
	return path.Join(p.shown, file)
}

// explain puts the places of a build's errors where the person is.
func (p project) explain(err error) error {
	for _, e := range fault.All(err) {
		e.File = p.place(e.File)
	}
	return err
}

// placed is findings with places where the person is.
func (p project) placed(in []plan.Finding) []plan.Finding {
	out := notNil(slices.Clone(in))
	for i := range out {
		out[i].File = p.place(out[i].File)
	}
	return out
}

func (a *app) build(ctx context.Context, arg string, o buildOptions) error {
	p, err := a.project(arg)
	if err != nil {
		return err
	}
	old := a.oldPlan(p)
	res, err := build.Build(ctx, build.Options{
		Dir: p.dir, Old: without(old, o.update), Images: a.localImage, Containers: a.container,
		Templates: a.templateBuild(ctx, slices.Contains(o.update, "template")), Ask: a.asker(p), Strict: o.strict,
	})
	if err != nil {
		return p.explain(err)
	}
	res.Findings = p.placed(res.Findings)
	if o.out == "-" {
		if _, err := a.out.lines(res.Lock); err != nil {
			return err
		}
		return a.showBuild(newBuildView(a.err, p, old, res, false))
	}
	if o.out != "" {
		p.lockPath, p.lockName = a.abs(o.out), filepath.ToSlash(o.out)
	}
	changed, err := build.WriteLock(p.lockPath, res.Lock)
	if err != nil {
		return fault.Wrap(fault.Input, err, "freeze the agent").At(p.lockName, 0, 0)
	}
	return a.showBuild(newBuildView(a.out, p, old, res, changed))
}

// oldPlan is the plan whose outside pins a build keeps. A lock that cannot be read keeps none, and a person hears it:
// the build is the very command that mends it.
func (a *app) oldPlan(p project) *plan.Plan {
	data, err := ordinary.Read(p.lockPath, plan.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		var old *plan.Plan
		if old, err = plan.Decode(data, p.lockName); err == nil {
			return old
		}
	}
	a.warn("the old lock cannot be read, so no pin of it is kept: %s", fault.All(err)[0].Error())
	return nil
}

// pinsOf is the plan in the lock, when there is one that can be read: what is pinned can be checked against.
func pinsOf(p project) *plan.Plan {
	data, err := ordinary.Read(p.lockPath, plan.MaxBytes)
	if err != nil {
		return nil
	}
	old, err := plan.Decode(data, p.lockName)
	if err != nil {
		return nil // told by who needs the lock
	}
	return old
}

// without is old less the pins that are to be resolved again.
func without(old *plan.Plan, update []string) *plan.Plan {
	if old == nil || len(update) == 0 {
		return old
	}
	p := *old
	if slices.Contains(update, "image") {
		p.Image.Microvm, p.Image.Kata = plan.Pins{}, plan.Pins{}
	}
	if slices.Contains(update, "template") {
		p.Image.E2B.Build = ""
	}
	if slices.Contains(update, "tools") {
		p.Connections = nil
	}
	return &p
}

// localImage is the digest of this machine's image of a profile, or "".
func (a *app) localImage(profile, arch string) string {
	img, err := image.Latest(a.cfg.Dirs.Cache, profile)
	if err != nil || img.Manifest.Arch != arch {
		return ""
	}
	return img.Digest()
}

// container is the digest of the container image that was exported of an image here, or "".
func (a *app) container(digest string) string { return image.Container(a.cfg.Dirs.Cache, digest) }

// writeReport puts a report where -o says, in one piece.
func (a *app) writeReport(to string, data []byte) error {
	if to == "-" {
		_, err := a.out.raw.Write(data)
		return err
	}
	if err := os.WriteFile(a.abs(to), data, 0o644); err != nil {
		return fault.Wrap(fault.Input, err, "write the report")
	}
	return nil
}
