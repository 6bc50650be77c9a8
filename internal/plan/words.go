package plan

import (
	"fmt"
	"strings"

	"github.com/joystream-ai/joy/internal/policy"
)

// words is a value as a person reads it in a difference: never empty, for an empty side means "not there".
func words(v any) string {
	switch t := v.(type) {
	case string:
		if t == "" {
			return "none"
		}
		return t
	case File:
		if t == (File{}) {
			return "none"
		}
		return fmt.Sprintf("%s %d bytes sha256:%s", t.Mode, t.Size, t.SHA256)
	case Allow:
		return t.Reason
	case *string:
		if t == nil {
			return "not pinned"
		}
		return *t
	case policy.Size, policy.Duration, int, bool:
		return fmt.Sprint(t)
	case []string:
		if len(t) == 0 {
			return "none"
		}
		return strings.Join(t, ", ")
	case Sandbox:
		return sandboxWords(t)
	}
	raw, err := plainJSON(v)
	switch s := string(raw); {
	case err != nil:
		return fmt.Sprintf("%v", v)
	case s == "null" || s == "[]" || s == "{}":
		return "none"
	default:
		return s
	}
}

func sandboxWords(s Sandbox) string {
	out := "no sandbox"
	if s.Required {
		out = "sandbox"
	}
	for _, e := range s.Evidence {
		out += fmt.Sprintf("; %s %s:%d %s", e.Rule, e.File, e.Line, e.Detail)
	}
	if s.Override != nil {
		out += fmt.Sprintf("; overridden to %v: %s", s.Override.Required, s.Override.Reason)
	}
	return out
}

// brief names a whole thing that was added or removed.
func brief(v any) string {
	switch t := v.(type) {
	case Skill:
		return fmt.Sprintf("%s, %d files", t.Path, len(t.Files))
	case Connection:
		return t.Transport + " " + t.URL + strings.Join(t.Argv, " ")
	case Tool:
		return t.Digest
	case Grant:
		return grantWords(t)
	case Step:
		return t.Kind + " " + t.Skill + t.Action
	}
	return words(v)
}

func grantWords(g Grant) string {
	out := "any number of calls"
	if g.MaxCalls > 0 {
		out = fmt.Sprintf("at most %d calls", g.MaxCalls)
	}
	if with := string(g.With); with != "" && with != "{}" {
		out += " with " + with
	}
	return out
}
