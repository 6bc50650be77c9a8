// Package skill reads and inspects one SKILL.md bundle through an fs.FS.
//
// The one rule: a bundle is text that a stranger wrote. Reading it runs nothing, follows no link and contacts nothing;
// whatever is concluded from it carries the file and the line that say so.
//
// The format is the Agent Skills spec (https://agentskills.io/specification), read tolerantly with warnings, and
// exactly as its reference validator reads it with Options.Strict; docs of joy's own fields are at the fields below.
package skill

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

// Values of skill_kind.
const (
	Instruction = "instruction" // worked by a model
	Script      = "script"      // has a declared entry point
)

// Bundle is one skill as it was read. Paths of files are relative to the bundle; those in findings and evidence are
// joined to the directory that Load was given.
type Bundle struct {
	Dir       string // as given to Load, cleaned
	SkillFile string // SKILL.md, or another spelling that was found

	Name          string // NFKC, without surrounding space
	Description   string
	License       string
	Compatibility string
	Metadata      map[string]any // values are string, []any or map[string]any; scalars keep their text
	AllowedTools  []string       // the agent's own tools, such as Bash(git:*); weak evidence, never a grant
	SkillKind     string         // "", Instruction or Script
	Actions       []string       // JoyStream's allowed_tools: connection.tool; a request, never a grant
	InputSchema   json.RawMessage
	OutputSchema  json.RawMessage // both canonical JSON, nil when absent; not yet checked as schemas

	Body     string // below the front matter, line ends as LF
	BodyLine int    // the line of SKILL.md on which Body begins

	Files    []digest.File // sorted by path, bytewise
	Digest   string
	Contents map[string][]byte // the bytes Files pin, by path; from the same read

	Entry      *Entry     // nil when none is declared
	Candidates []Evidence // bundled scripts that the text runs; never promoted to Entry
	Findings   []Finding  // in order of file and line
	Violations []Finding  // what the reference validator refuses; empty means valid under Strict

	doc            document
	candidatePaths []string       // of Candidates, in their order
	requires       map[string]any // another tool's field: what the skill declares to need

	descriptionLine, kindLine, toolsLine, metadataLine, requiresLine, compatibilityLine int
}

// Entry is a declared entry point.
type Entry struct {
	Path string   // inside the bundle
	Argv []string // the interpreter and its arguments; the path is appended
	Line int      // of SKILL.md, where it is declared
}

// Severities of a Finding.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
	SeverityNote    = "note"
)

// Finding is something a person should know about a bundle. It converts to plan.Finding.
type Finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`          // 0 when the file as a whole
	Col      int    `json:"col,omitempty"` // of RuleSecret, in characters; 0 is unknown
	Message  string `json:"message"`
	By       string `json:"by,omitempty"` // of RuleSecret: the scrubber's rule, which allow may name too
}

// Evidence is why a determination was made. It converts to plan.Evidence.
type Evidence struct {
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Detail string `json:"detail"`
}

// Options change how a bundle is read. The zero value reads tolerantly.
type Options struct {
	// Strict makes an error of whatever the reference validator refuses.
	Strict bool

	// DirName is the name of the bundle's directory, for comparison with the skill's name. Empty takes the last
	// element of dir; where that is "." too, the two are not compared.
	DirName string

	// Read says where file modes come from and what the limits are. Held and Raw are Load's own to set.
	Read digest.Options
}

// Load reads the bundle in dir of fsys. The error joins one *fault.Error for each thing that keeps joy from using the
// bundle, or with Strict for each violation, with file, line and what to do; there is no bundle then. Everything
// less is in Findings.
func Load(fsys fs.FS, dir string, opts Options) (*Bundle, error) {
	b := &Bundle{Dir: path.Clean(dir), Contents: map[string][]byte{}}
	raw, err := b.readSkillFile(fsys)
	if err != nil {
		return nil, err
	}
	r := &report{file: b.skillPath(), strict: opts.Strict}
	if b.SkillFile == "Skill.md" {
		r.violation(RuleSkillFile, place{}, `the file is called Skill.md: the spec reads SKILL.md only`)
	} else if b.SkillFile != "SKILL.md" {
		r.warn(RuleSkillFile, place{}, "the file is called %s: most readers look for SKILL.md only", b.SkillFile)
	}
	front, err := split(raw, r)
	if err != nil {
		return nil, err
	}
	fields, err := parseFields(front, r)
	if err != nil {
		return nil, err
	}
	b.Body, b.BodyLine = front.body, front.bodyLine
	declared := b.readFields(front, fields, dirName(b.Dir, opts.DirName), r)
	if err := b.readFiles(fsys, raw, declared, opts.Read, r); err != nil {
		return nil, errors.Join(r.err(), err)
	}
	b.doc = readDocument(b.Body, b.BodyLine)
	b.Candidates = b.findCandidates()
	b.resolveEntry(declared, r)
	b.risks(r)
	b.secrets(r)
	b.Findings, b.Violations = r.sorted()
	if err := r.err(); err != nil {
		return nil, err
	}
	return b, nil
}

func dirName(dir, given string) string {
	if given == "" {
		given = path.Base(dir)
	}
	if given == "." {
		return ""
	}
	return given
}

// StrictValid reports whether the reference validator takes the bundle.
func (b *Bundle) StrictValid() bool { return len(b.Violations) == 0 }

// skillPath is SKILL.md as the user sees it.
func (b *Bundle) skillPath() string { return path.Join(b.Dir, b.SkillFile) }

// fail is a fault of the bundle with a stable code.
func fail(rule, file string, p place, hint, format string, args ...any) *fault.Error {
	f := fault.New(fault.Input, format, args...).At(file, p.line, p.col)
	f.Code, f.Hint = rule, hint
	return f
}
