// Package agent reads joy.yaml: what the author of an agent declares, with the place of everything a later stage may
// have to complain about.
//
// The one rule: strict. What is not in the grammar is an error at its line and column, never ignored and never guessed;
// nothing is read but the bytes given.
package agent

import (
	"encoding/json"

	"github.com/joystream-ai/joy/internal/policy"
)

// DefaultWorkspace is the workspace of an agent that names none.
const DefaultWorkspace = "local"

// Limits of a model step that joy.yaml does not set, and of a step without a timeout.
const (
	DefaultMaxTurns     = 20
	DefaultMaxTokens    = 200_000
	DefaultSetupTimeout = policy.Duration(5 * 60 * 1e9)
)

// ReservedID is the id of the pseudo-step that setup makes; no step may have it.
const ReservedID = "setup"

// Pos is a place in joy.yaml: line and column, both 1-based, the column in runes. The zero Pos is unknown.
type Pos struct{ Line, Col int }

// Text is a string and its place.
type Text struct {
	Value string
	Pos
	inline int // runes before the first one of Value; -1 when the text was folded or escaped
}

// At is the place of the byte at offset in the string, or of the string itself where its spelling hides the place.
func (t Text) At(offset int) Pos {
	if t.inline < 0 || offset < 0 || offset > len(t.Value) {
		return t.Pos
	}
	return Pos{t.Line, t.Col + t.inline + len([]rune(t.Value[:offset]))}
}

// Value is any JSON value, with the places of the strings in it.
type Value struct {
	Pos
	JSON    json.RawMessage // canonical
	Strings []Text          // every string value, not the keys, in the order of the file
}

// Spec is one joy.yaml, valid by itself: what it says of bundles, files and other steps is not looked up.
type Spec struct {
	File        string // as given to Parse
	Name        string
	Description string
	Workspace   string
	Inputs      *Value // a JSON Schema, not yet checked as one; nil when not declared
	Triggers    []Trigger
	Model       *Model // nil when not declared
	Skills      []Text // paths and globs, relative, without ".."
	Connections map[string]Connection
	Setup       *Setup
	Steps       []Step // nil when not declared: one step per skill
	Image       Text   // tiny, base, full or sha256:…
	E2BTemplate string
	Policy      policy.Policy // complete: what is not declared has its default
	Allow       []Allow
	Fixtures    map[string]Text // action to a file with its recorded answer
}

// Trigger is one schedule; the zone is one the IANA database knows.
type Trigger struct{ Schedule, Timezone, Missed string }

// Model names the model of the model steps. Key is "secret:NAME" or "".
type Model struct {
	Pos
	Provider, Name, BaseURL, Key string
	MaxTurns, MaxTokens          int
	MaxCost                      float64 // US dollars; 0 is not bounded by cost
}

// Connection is an outside service: Command or URL, never both.
type Connection struct {
	Pos
	Command    []string
	Env        map[string]string // to "secret:NAME"
	URL        string
	Bearer     string // "secret:NAME" or ""
	Unconfined string // the reason, or ""
}

// Setup prepares the layer below every sandbox step, once per run.
type Setup struct {
	Run     Text     // a script of the project
	Egress  []string // nil: what the policy allows
	Timeout policy.Duration
}

// Step is one declared step: of a skill or of an action, never both.
type Step struct {
	Pos
	ID      string
	Skill   Text
	Action  Text
	Needs   []Text
	With    Value
	Tools   []Grant
	Egress  []string // nil: what the policy allows
	Timeout policy.Duration
	Approve string
	Sandbox *Override
}

// Grant lets a script or model step call an action.
type Grant struct {
	Action   Text
	With     Value
	MaxCalls int
}

// Override is the author's word on whether a step needs the VM.
type Override struct {
	Pos
	Required bool
	Reason   string
}

// Allow accepts one finding.
type Allow struct {
	Pos
	Rule, File, Reason string
}
