package cli

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
)

type skillCheckOptions struct {
	strict bool
	failOn string
	out    string
}

func newSkillCheckCmd(a *app) *cobra.Command {
	var o skillCheckOptions
	cmd := &cobra.Command{
		Use:   "check [DIR...]",
		Short: "Check bundles, and say what each needs",
		Long: "check reads bundles as a build does and starts nothing. Without DIR it looks for them in the project: below skills,\n" +
			".claude/skills, .agents/skills, .github/skills and .cursor/skills, wherever these are.",
		Example: "  joy skill check\n" +
			"  joy skill check skills/count --strict\n" +
			"  joy skill check --fail-on warning -o skills.sarif",
		Args: argsBetween(0, maxFindDirs, "directories"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.failOn != skill.SeverityError && o.failOn != skill.SeverityWarning {
				return usagef(cmd, "--fail-on %q: it is error or warning", o.failOn)
			}
			if ext := path.Ext(o.out); o.out != "" && ext != ".sarif" && ext != ".json" {
				return usagef(cmd, "-o %s: a report is .sarif or .json", o.out)
			}
			return a.skillCheck(cmd.Context(), args, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.strict, "strict", false, "hold bundles to the Agent Skills spec, to the letter")
	flags.StringVar(&o.failOn, "fail-on", skill.SeverityError, "exit 2 on findings of `SEVERITY` or worse: error or warning")
	flags.StringVarP(&o.out, "output", "o", "", "also write a report to `FILE` (.sarif, .json)")
	return cmd
}

// skillJSON is what is known of one bundle.
type skillJSON struct {
	Schema      string           `json:"schema"`
	Path        string           `json:"path"`
	Name        string           `json:"name"`         // "" when it could not be read
	Valid       bool             `json:"valid"`        // joy can use it
	StrictValid bool             `json:"strict_valid"` // the spec's reference validator takes it
	Findings    []plan.Finding   `json:"findings"`
	Needs       skillNeeds       `json:"needs"`
	Entry       *plan.Entry      `json:"entry"`
	Candidates  []skill.Evidence `json:"candidates"`
	Evidence    []skill.Evidence `json:"evidence"`
}

// skillNeeds is what carrying the skill out needs, by name; of what has none, "unnamed".
type skillNeeds struct {
	Sandbox  bool     `json:"sandbox"`
	Unsure   bool     `json:"unsure"` // the sandbox was not settled, and is taken as needed
	Tools    []string `json:"tools"`
	Network  []string `json:"network"`
	Programs []string `json:"programs"`
	Secrets  []string `json:"secrets"`
	Optional []string `json:"optional"`
}

func (a *app) skillCheck(ctx context.Context, args []string, o skillCheckOptions) error {
	dirs, err := a.skillDirs(args)
	if err != nil {
		return err
	}
	var list []skillJSON
	var problems []problem
	bad := 0
	for _, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return err
		}
		doc := a.checkSkill(dir, o.strict)
		list = append(list, doc)
		problems = append(problems, problemsOf(doc.Findings)...)
		if hasSeverity(doc.Findings, o.failOn) {
			bad++
		}
		if err := a.showSkill(doc); err != nil {
			return err
		}
	}
	if o.out != "" {
		report := map[string]any{"schema": "joy.skill-report/1", "bundles": list}
		data, err := a.encodeReport(strings.TrimPrefix(path.Ext(o.out), "."), report, problems)
		if err != nil {
			return err
		}
		if err := a.writeReport(o.out, data); err != nil {
			return err
		}
	}
	return a.endSkillCheck(len(dirs), bad, o.failOn)
}

// skillDirs is the bundles of args, or those of the project.
func (a *app) skillDirs(args []string) (out []string, err error) {
	homes := len(args) == 0
	if homes {
		args = []string{"."}
	}
	for _, arg := range args {
		dir := a.abs(arg)
		if err := isDir(dir); err != nil {
			return nil, fault.Wrap(fault.Input, err, "open %s", arg).WithHint("name the directory of a bundle")
		}
		found, err := a.findSkills(dir, homes)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if p := path.Join(filepath.ToSlash(arg), f); !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
		if len(found) == 0 && !homes { // read as a bundle, it says itself what is missing
			out = append(out, filepath.ToSlash(filepath.Clean(arg)))
		}
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Input, "there is no bundle below %s", strings.Join(skillHomes, ", ")).WithHint("name the directory of a bundle, or: joy skill new NAME")
	}
	return out, nil
}

// checkSkill reads one bundle. What keeps joy from using it is among the findings.
func (a *app) checkSkill(dir string, strict bool) skillJSON {
	doc := skillJSON{Schema: "joy.skill-check/1", Path: dir, Findings: []plan.Finding{}, Candidates: []skill.Evidence{}, Evidence: []skill.Evidence{}}
	doc.Needs = needsOf(skill.Needs{})
	b, err := a.loadSkill(dir)
	for _, e := range fault.All(err) {
		msg := e.Msg
		if e.Err != nil {
			msg += ": " + e.Err.Error()
		}
		if e.Hint != "" {
			msg += "; " + e.Hint
		}
		doc.Findings = append(doc.Findings, plan.Finding{Rule: e.Code, Severity: skill.SeverityError, File: within(dir, e.File), Line: e.Line, Message: msg})
	}
	if err != nil {
		doc.Needs, doc.Evidence = a.needsOfText(dir)
		return doc
	}
	needs := b.Needs()
	doc.Name, doc.StrictValid, doc.Needs = b.Name, b.StrictValid(), needsOf(needs)
	doc.Candidates, doc.Evidence = placedEvidence(dir, b.Candidates), placedEvidence(dir, needs.Evidence)
	if b.Entry != nil {
		doc.Entry = &plan.Entry{Path: b.Entry.Path, Argv: b.Entry.Argv}
	}
	for _, f := range skillFindings(b, strict) {
		f.File = within(dir, f.File)
		doc.Findings = append(doc.Findings, plan.Finding(f))
	}
	doc.Valid = !hasSeverity(doc.Findings, skill.SeverityError)
	return doc
}

// needsOfText is what the text of a bundle says that cannot be used; nothing where there is no text.
func (a *app) needsOfText(dir string) (skillNeeds, []skill.Evidence) {
	none := []skill.Evidence{}
	root, err := ordinary.OpenRoot(a.abs(dir))
	if err != nil {
		return needsOf(skill.Needs{}), none
	}
	defer root.Close()
	needs, err := skill.NeedsOfText(root.FS(), ".", skill.Options{DirName: filepath.Base(a.abs(dir))})
	if err != nil {
		return needsOf(skill.Needs{}), none
	}
	return needsOf(needs), placedEvidence(dir, needs.Evidence)
}

func (a *app) loadSkill(dir string) (*skill.Bundle, error) {
	root, err := ordinary.OpenRoot(a.abs(dir))
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "open the bundle")
	}
	defer root.Close()
	return skill.Load(root.FS(), ".", skill.Options{DirName: filepath.Base(a.abs(dir))})
}

// skillFindings is the findings; with strict what the reference refuses comes as errors, once.
func skillFindings(b *skill.Bundle, strict bool) []skill.Finding {
	if !strict {
		return b.Findings
	}
	out := slices.Clone(b.Violations)
	for _, f := range b.Findings {
		same := func(v skill.Finding) bool {
			return v.Rule == f.Rule && v.Line == f.Line && strings.HasPrefix(f.Message, v.Message)
		}
		if !slices.ContainsFunc(b.Violations, same) {
			out = append(out, f)
		}
	}
	return out
}

func needsOf(n skill.Needs) skillNeeds {
	names := func(list []skill.Need) []string {
		out := []string{}
		for _, need := range list {
			if need.Name == "" {
				need.Name = "unnamed"
			}
			if !slices.Contains(out, need.Name) {
				out = append(out, need.Name)
			}
		}
		return out
	}
	return skillNeeds{n.Sandbox, n.Unsure, names(n.Tools), names(n.Network), names(n.Binaries), names(n.Secrets), names(n.Optional)}
}

func placedEvidence(dir string, in []skill.Evidence) []skill.Evidence {
	out := notNil(slices.Clone(in))
	for i := range out {
		out[i].File = within(dir, out[i].File)
	}
	return out
}

// within is a file of a bundle as a person at the terminal calls it.
func within(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return path.Join(dir, file)
}

// hasSeverity reports a finding that severity, or worse, is to fail on.
func hasSeverity(findings []plan.Finding, severity string) bool {
	return slices.ContainsFunc(findings, func(f plan.Finding) bool {
		return f.Severity == skill.SeverityError || f.Severity == severity
	})
}
