package plan

import "strings"

// InputVariable is the environment variable in which a step finds the top-level input name: JOY_INPUT_ and the name in
// upper case, with "_" for everything but ASCII letters and digits. Two names may share one; building refuses that.
func InputVariable(name string) string {
	return "JOY_INPUT_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return '_'
	}, name)
}
