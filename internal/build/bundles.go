package build

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
)

// source is the directory of a bundle, and the line of joy.yaml that asks for it.
type source struct {
	dir string
	at  agent.Pos
}

// bundle is what the rest of a build needs of a skill. The contents of its files are let go as soon as it is read:
// an agent may have hundreds.
type bundle struct {
	source
	pin         plan.Skill
	description string
	skillFile   string // of the project
	entry       *plan.Entry
	actions     []string // it asks to call
	required    bool
	evidence    []plan.Evidence
	needs       skill.Needs
	checkout    []plan.Finding // about the files as they lie here, and so not of the plan
}

// expand turns the paths and globs of `skills` into directories, in the order of joy.yaml and bytewise within a glob.
func (b *builder) expand(patterns []agent.Text) ([]source, error) {
	var out []source
	var errs []error
	seen := map[string]bool{}
	add := func(dir string, at agent.Pos) {
		if !seen[dir] {
			seen[dir] = true
			out = append(out, source{dir, at})
		}
	}
	bad := func(p agent.Text, format string, args ...any) *fault.Error {
		e := fault.New(fault.Input, format, args...).At(b.spec.File, p.Line, p.Col)
		e.Code = Code
		errs = append(errs, e)
		return e
	}
	for _, p := range patterns {
		if !strings.ContainsAny(p.Value, "*?[") {
			if b.linked(p.Value) {
				bad(p, "skills: %s goes through a link", p.Value).WithHint("name the directory itself")
			} else if info, err := fs.Stat(b.fsys, p.Value); err != nil || !info.IsDir() {
				bad(p, "skills: there is no directory %s", p.Value).Hint = b.nearDir(p.Value)
			} else {
				add(p.Value, p.Pos)
			}
			continue
		}
		matches, err := fs.Glob(b.fsys, p.Value)
		if err != nil {
			_ = bad(p, "skills: %q is not a glob: %v", p.Value, err)
			continue
		}
		slices.Sort(matches)
		before, refused := len(out), false
		for _, dir := range matches {
			if hidden(dir, p.Value) || !b.hasSkill(dir) {
				continue
			}
			if b.linked(dir) { // left out without a word, a skill would be missing from the plan
				bad(p, "skills: %s matches %s, which goes through a link", p.Value, dir).
					WithHint("put the directory itself there, or name the others without a wildcard")
				refused = true
				continue
			}
			add(dir, p.Pos)
		}
		if !refused && len(out) == before && !slices.ContainsFunc(matches, func(m string) bool { return seen[m] }) {
			_ = bad(p, "skills: %s matches no directory with a SKILL.md", p.Value)
		}
	}
	return out, errors.Join(errs...)
}

// hidden keeps a wildcard from matching a leading dot, as in a shell.
func hidden(dir, pattern string) bool {
	names, globs := strings.Split(dir, "/"), strings.Split(pattern, "/")
	for i, name := range names {
		if strings.HasPrefix(name, ".") && i < len(globs) && !strings.HasPrefix(globs[i], ".") {
			return true
		}
	}
	return false
}

// linked reports a link anywhere in the path: what a pin names must not depend on where a link points today.
func (b *builder) linked(dir string) bool {
	for d := dir; d != "."; d = path.Dir(d) {
		if info, err := fs.Lstat(b.fsys, d); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

func (b *builder) nearDir(dir string) string {
	entries, _ := ordinary.ReadDir(b.fsys, path.Dir(dir))
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, path.Join(path.Dir(dir), e.Name()))
		}
	}
	slices.Sort(names)
	return agent.DidYouMean(dir, names)
}

const maxJobs = 8

// load reads the bundles side by side and keeps them in the order of dirs.
func (b *builder) load(ctx context.Context, dirs []source) error {
	if len(dirs) > plan.MaxSteps {
		return fault.New(fault.Input, "%d skills are more than the %d a plan can have", len(dirs), plan.MaxSteps).At(b.spec.File, 0, 0)
	}
	b.bundles = make([]bundle, len(dirs))
	errs := make([]error, len(dirs))
	var group errgroup.Group
	group.SetLimit(cmp.Or(b.o.Jobs, min(runtime.GOMAXPROCS(0), maxJobs)))
	for i, dir := range dirs {
		group.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				b.bundles[i], errs[i] = b.loadOne(dir)
			}
			return nil
		})
	}
	_ = group.Wait() // each bundle's error has its own place, so that all are told
	if err := cmp.Or(ctx.Err(), errors.Join(errs...)); err != nil {
		return err
	}
	return b.unique()
}

func (b *builder) loadOne(from source) (bundle, error) {
	opts := skill.Options{Strict: b.o.Strict, Read: b.o.Read}
	if opts.Read.Modes == nil {
		opts.Read.Modes = b.modes(from.dir)
	}
	if from.dir == "." && b.o.Dir != "" {
		opts.DirName = path.Base(strings.ReplaceAll(b.o.Dir, `\`, "/"))
	}
	s, err := skill.Load(b.fsys, from.dir, opts)
	if err != nil {
		return bundle{}, err
	}
	out := bundle{source: from, description: s.Description, skillFile: path.Join(from.dir, s.SkillFile), actions: s.Actions}
	out.pin = plan.Skill{Name: s.Name, Path: from.dir, Digest: s.Digest, InputSchema: s.InputSchema, OutputSchema: s.OutputSchema}
	for _, f := range s.Files {
		out.pin.Files = append(out.pin.Files, plan.File(f))
	}
	for _, f := range s.Findings {
		if f.Rule == skill.RuleLineEnds { // git makes and unmakes them; a lock is the same on either side
			out.checkout = append(out.checkout, plan.Finding(f))
			continue
		}
		out.pin.Findings = append(out.pin.Findings, plan.Finding(f))
	}
	if s.Entry != nil {
		out.entry = &plan.Entry{Path: s.Entry.Path, Argv: s.Entry.Argv}
	}
	var evidence []skill.Evidence
	out.required, evidence = s.Sandbox()
	out.needs = s.Needs()
	for _, e := range evidence {
		out.evidence = append(out.evidence, plan.Evidence(e))
	}
	return out, nil
}

// unique holds that a name leads to one bundle.
func (b *builder) unique() error {
	var errs []error
	first := map[string]bundle{}
	for _, s := range b.bundles {
		if prior, taken := first[s.pin.Name]; taken {
			e := fault.New(fault.Input, "two skills are called %q: %s and %s", s.pin.Name, prior.dir, s.dir).
				At(b.spec.File, s.at.Line, s.at.Col).WithHint("rename one of them in its SKILL.md")
			e.Code = Code
			errs = append(errs, e)
			continue
		}
		first[s.pin.Name] = s
		b.plan.Skills = append(b.plan.Skills, s.pin)
	}
	return errors.Join(errs...)
}

func (b *builder) bundle(name string) (bundle, bool) {
	i := slices.IndexFunc(b.bundles, func(s bundle) bool { return s.pin.Name == name })
	if i < 0 {
		return bundle{}, false
	}
	return b.bundles[i], true
}
