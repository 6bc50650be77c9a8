package skill

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/digest"
)

// Lengths the spec allows, in Unicode code points.
const (
	MaxName          = 64
	MaxDescription   = 1024
	MaxCompatibility = 500
)

// checkName applies the spec's rules for a name, in the reference validator's order, as violations. A name that is
// missing or could not be a directory in the VM gives way to the directory's own; it is an error when that is no better.
func (r *fieldReader) checkName(dirName string) {
	b, at := r.b, r.seen["name"]
	if at.line == 0 {
		at = place{r.line, 1}
	}
	dirName = norm.NFKC.String(dirName)
	if b.Name == "" {
		r.violation(RuleName, at, "name is missing or empty")
	} else {
		for _, broken := range nameProblems(b.Name) {
			r.violation(RuleName, at, "name %.80q %s", b.Name, broken)
		}
		if dirName != "" && dirName != b.Name {
			r.violation(RuleName, at, "name %.80q is not the name of its directory, %q", b.Name, dirName)
		}
	}
	why := usable(b.Name)
	switch {
	case why == nil:
	case dirName != "" && usable(dirName) == nil:
		r.warn(RuleName, at, "the directory's name %q stands in for the name", dirName)
		b.Name = dirName
	default:
		r.fail(RuleName, at, "write a name of lower-case letters, digits and hyphens",
			"name %.80q cannot be a directory in the VM: %v", b.Name, why)
	}
}

// usable says why a skill of this name cannot lie under /workspace/skills.
func usable(name string) error {
	if strings.HasPrefix(name, ".") {
		return errors.New("it begins with a dot")
	}
	return digest.CheckName(name)
}

// nameProblems says what the spec has against a name that is in NFKC.
func nameProblems(name string) (problems []string) {
	say := func(broken bool, what string) {
		if broken {
			problems = append(problems, what)
		}
	}
	strange := func(c rune) bool { return c != '-' && !unicode.IsLetter(c) && !unicode.IsNumber(c) }
	say(utf8.RuneCountInString(name) > MaxName, "is longer than 64 characters")
	say(name != strings.ToLower(name), "is not lower case")
	say(strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"), "begins or ends with a hyphen")
	say(strings.Contains(name, "--"), "has two hyphens in a row")
	say(strings.ContainsFunc(name, strange), "holds characters other than letters, digits and hyphens")
	return problems
}

func (r *fieldReader) checkDescription() {
	at := r.seen["description"]
	if at.line == 0 {
		at = place{r.line, 1}
	}
	n := utf8.RuneCountInString(r.b.Description)
	if n > MaxDescription {
		r.violation(RuleDescription, at, "description has %d characters, and %d are allowed", n, MaxDescription)
	}
	if r.b.Description = strings.TrimSpace(r.b.Description); r.b.Description == "" {
		r.violation(RuleDescription, at, "description is missing or empty: nobody will know when to use the skill")
	}
}

func (r *fieldReader) compatibility(f field) {
	if f.value.Kind != yaml.ScalarNode {
		r.violation(RuleCompatibility, r.place(f.value), "compatibility is not a text")
		return
	}
	r.b.Compatibility = scalar(f.value)
	if n := utf8.RuneCountInString(r.b.Compatibility); n > MaxCompatibility {
		r.violation(RuleCompatibility, f.at, "compatibility has %d characters, and %d are allowed", n, MaxCompatibility)
	}
}
