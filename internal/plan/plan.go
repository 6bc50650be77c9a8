// Package plan is the frozen graph of an agent: what joy.lock holds and what a run executes.
//
// The one rule: a plan is self-contained. Whoever has a Plan and the bytes behind its digests can run it without
// looking anything up again; nothing here reads a file, a clock or an environment.
package plan

import (
	"encoding/json"

	"github.com/joystream-ai/joy/internal/policy"
)

// LockVersion is the version of the format that Encode writes and Decode accepts.
const LockVersion = 1

// Plan is a whole joy.lock. Field order here is the order of keys in the file.
// Slices that mean a set are sorted; a nil slice is written as [].
type Plan struct {
	LockVersion int                   `json:"lock_version"`
	Rules       int                   `json:"rules"`       // version of the determination rules
	Digest      string                `json:"plan_digest"` // sha256:… over the canonical form of everything else
	Agent       Agent                 `json:"agent"`
	Inputs      json.RawMessage       `json:"inputs"` // JSON Schema of a run's input, canonical; {} when none
	Model       *Model                `json:"model"`  // nil: no model declared
	Triggers    []Trigger             `json:"triggers"`
	Policy      policy.Policy         `json:"policy"`
	Setup       *Setup                `json:"setup"`
	Skills      []Skill               `json:"skills"` // in joy.yaml's order after expansion of globs
	Connections map[string]Connection `json:"connections"`
	Image       Image                 `json:"image"`
	Allow       []Allow               `json:"allow"`
	Steps       []Step                `json:"steps"` // in joy.yaml's order
}

// Agent identifies what was frozen.
type Agent struct {
	Name        string `json:"name"`
	Workspace   string `json:"workspace"`
	Description string `json:"description"`
	Spec        File   `json:"spec"` // joy.yaml itself; Path "" for a bundle built without one
}

// File pins one file by what the VM will get.
type File struct {
	Path   string `json:"path"`   // relative, forward slashes, NFC
	Mode   string `json:"mode"`   // "0644" or "0755"
	Size   int64  `json:"size"`   // of the pinned bytes
	SHA256 string `json:"sha256"` // hex
}

// Model names the model of the plan's model steps; "unset" (Provider and Name empty) needs --model at run time.
type Model struct {
	Provider  string  `json:"provider"`
	Name      string  `json:"name"`
	BaseURL   string  `json:"base_url"`
	Key       string  `json:"key"` // "secret:NAME", never a value
	MaxTurns  int     `json:"max_turns"`
	MaxTokens int     `json:"max_tokens"`
	MaxCost   float64 `json:"max_cost"` // US dollars; 0 = not bounded by cost
}

// Trigger is a schedule of the agent.
type Trigger struct {
	Schedule string `json:"schedule"` // 5-field cron
	Timezone string `json:"timezone"` // IANA name
	Missed   string `json:"missed"`   // skip | once
}

// Setup is the pseudo-step that prepares the lower layer of every sandbox step.
type Setup struct {
	Run     File            `json:"run"`
	Argv    []string        `json:"argv"` // what starts it; the path of the script follows
	Egress  []string        `json:"egress"`
	Timeout policy.Duration `json:"timeout"`
}

// Skill pins one bundle.
type Skill struct {
	Name         string          `json:"name"`
	Path         string          `json:"path"`   // relative to joy.yaml's directory
	Digest       string          `json:"digest"` // sha256:… over Files
	Files        []File          `json:"files"`  // sorted by path, bytewise
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Findings     []Finding       `json:"findings"`
}

// Finding is something a person should know about a bundle.
type Finding struct {
	Rule     string `json:"rule"`     // stable id, JOY-…
	Severity string `json:"severity"` // error | warning | note
	File     string `json:"file"`
	Line     int    `json:"line"`          // 0 when the file as a whole
	Col      int    `json:"col,omitempty"` // of JOY-SECRET, in characters; 0 is unknown
	Message  string `json:"message"`
	By       string `json:"by,omitempty"` // of JOY-SECRET: the scrubber's rule, which allow may name too
}

// Evidence is why a determination was made.
type Evidence struct {
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Detail string `json:"detail"` // what was seen, in words a person would use
}

// Connection pins an outside service and those of its tools that a step is granted.
type Connection struct {
	Transport  string            `json:"transport"` // stdio | http
	Argv       []string          `json:"argv,omitempty"`
	URL        string            `json:"url,omitempty"`
	Env        []string          `json:"env"`     // names of variables, sorted
	Secrets    map[string]string `json:"secrets"` // a variable of Env, or Bearer for a URL, to "secret:NAME"; never a value
	Files      []File            `json:"files"`   // files of argv inside the project, sorted by path
	Server     *Server           `json:"server"`  // nil: it did not name itself
	Unconfined string            `json:"unconfined,omitempty"`
	Tools      map[string]Tool   `json:"tools"`
}

// Transports of a connection.
const (
	Stdio = "stdio"
	HTTP  = "http"
)

// Bearer is the key of Secrets for what is sent to a URL.
const Bearer = "bearer"

// Server is how a connection's server named itself.
type Server struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Pins is one digest (sha256:…) for each architecture; nil is not resolved yet.
type Pins struct {
	AMD64 *string `json:"amd64"`
	ARM64 *string `json:"arm64"`
}

// Image pins what the VM boots from, for each provider.
type Image struct {
	Profile string      `json:"profile"` // tiny | base | full, or "" when named by digest
	Microvm Pins        `json:"microvm"`
	Kata    Pins        `json:"kata"`
	E2B     E2BTemplate `json:"e2b"`
}

// E2BTemplate pins a template and one build of it.
type E2BTemplate struct {
	Template string `json:"template"`
	Build    string `json:"build"`
}

// OutDir is where, in an entry of allow, artifacts are: "out/report.pdf" is the artifact report.pdf of any step.
const OutDir = "out"

// InDir is where, in an entry of allow, inputs of a run are: "in/week" is the input week.
const InDir = "in"

// RuleUnread is the rule of an artifact that is too large, or too deep, to be looked into.
const RuleUnread = "JOY-UNREAD"

// Allow accepts one finding, with the author's reason: of a file of the project, or of the scrubber in an artifact or an input.
type Allow struct {
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Kinds of a step.
const (
	Script = "script" // a declared entry point, in the VM
	Prompt = "model"  // an instruction skill, worked by a model on the host
	Action = "action" // one call of a connection's tool, no VM
)

// Step is one node of the graph.
type Step struct {
	ID      string          `json:"id"`
	Kind    string          `json:"kind"`
	Skill   string          `json:"skill,omitempty"`  // name of a Skill
	Action  string          `json:"action,omitempty"` // connection.tool
	Entry   *Entry          `json:"entry,omitempty"`
	Needs   []string        `json:"needs"` // every direct predecessor: declared and from references, sorted
	With    json.RawMessage `json:"with"`  // canonical object; references stay as "${{ … }}" strings
	Tools   []Grant         `json:"tools"`
	Egress  []string        `json:"egress"`
	Timeout policy.Duration `json:"timeout"`
	Approve string          `json:"approve"` // "" | ask | granted
	Sandbox Sandbox         `json:"sandbox"`
}

// Entry is how a script step starts.
type Entry struct {
	Path string   `json:"path"` // inside the bundle
	Argv []string `json:"argv"` // interpreter and its arguments; the path is appended
}

// Grant lets a step call one action.
type Grant struct {
	Action   string          `json:"action"`
	With     json.RawMessage `json:"with"`
	MaxCalls int             `json:"max_calls"` // 0 = the door's own limit
}

// Sandbox says whether a step needs the VM, and why.
type Sandbox struct {
	Required bool       `json:"required"`
	Evidence []Evidence `json:"evidence"`
	Override *Override  `json:"override,omitempty"`
}

// Override is the author's own word against the determination; both are kept.
type Override struct {
	Required bool   `json:"required"`
	Reason   string `json:"reason"`
}

// NeedsVM is what the run acts on: the author's override, else the determination.
func (s Step) NeedsVM() bool {
	if s.Sandbox.Override != nil {
		return s.Sandbox.Override.Required
	}
	return s.Sandbox.Required
}

// Step finds a step by id.
func (p *Plan) Step(id string) (Step, bool) {
	for _, s := range p.Steps {
		if s.ID == id {
			return s, true
		}
	}
	return Step{}, false
}

// Skill finds a bundle by name.
func (p *Plan) Skill(name string) (Skill, bool) {
	for _, s := range p.Skills {
		if s.Name == name {
			return s, true
		}
	}
	return Skill{}, false
}
