package skill

import (
	"path"
	"strings"
)

// command is one command line that the text shows, as its words.
type command struct {
	words  []string
	inline bool // between backquotes in a sentence
}

// commandsOf finds the command lines in a line: what would be typed in a fence, and what stands between backquotes.
func commandsOf(l *line) []command {
	if l.kind == code {
		if words := typedLine(l); words != nil {
			return []command{{words: words}}
		}
		return nil
	}
	if l.kind == comment {
		return nil
	}
	var out []command
	for _, s := range l.spans {
		if words := commandLine(s); words != nil && !connects(strings.ToLower(s)) {
			out = append(out, command{words, true})
		}
	}
	return out
}

// typedLine is a line of a fence that somebody would type. A fence without a language needs a prompt or a known
// command: it may be sample output.
func typedLine(l *line) []string {
	text := strings.TrimSpace(l.text)
	if text == "" || text[0] == '#' || text[0] == '/' && !strings.Contains(text[1:], "/") || connects(l.low) {
		return nil
	}
	typed, prompt := strings.CutPrefix(text, "$ ")
	if shellLangs[l.lang] || (l.lang == "" || l.lang == "text") && prompt {
		words := trimWords(strings.Fields(typed))
		if words[0] == "export" || words[0][0] == '#' || strings.Contains(words[0], "=") {
			return nil // a setting alone runs nothing
		}
		return words
	}
	if l.lang == "" {
		return commandLine(typed)
	}
	return nil
}

// commandLine takes text apart that is a command; nil when it is none.
func commandLine(s string) []string {
	words := trimWords(strings.Fields(s))
	if len(words) == 0 || !isCommand(words, s) {
		return nil
	}
	return words
}

// isCommand reports words, of the text s, that would be typed: a program of the directory at hand, a script with an
// option or an argument, any name with an option of two hyphens, and a known program that goes on like one.
func isCommand(words []string, s string) bool {
	first, more := words[0], len(words) > 1
	_, script := interpreters[path.Ext(first)]
	switch {
	case strings.HasPrefix(first, "/") && strings.Count(first, "/") == 1: // a slash command of an agent
		return false
	case strings.HasPrefix(first, "./") && !strings.HasSuffix(first, ".md") && !strings.HasSuffix(first, "/"):
		return true
	case !more:
		return false
	case strings.HasSuffix(first, ".sh"), script && strings.HasPrefix(words[1], "-"):
		return true
	case onlyName(first) && first[0] >= 'a' && first[0] <= 'z' && strings.Contains(s, " --"):
		return true
	default:
		return commandNames[path.Base(first)] && (!ambiguous[first] || strings.ContainsAny(s[len(first):], "-./|>$*"))
	}
}

// trimWords leaves out what stands before the command itself: sudo, and settings of variables.
func trimWords(words []string) []string {
	if len(words) > 1 {
		if _, inner, ok := strings.Cut(words[0], "=$("); ok && inner != "" { // a variable that a command's output goes into
			return append([]string{inner}, words[1:]...)
		}
	}
	for len(words) > 1 && (words[0] == "sudo" || words[0] == "time" || strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-")) {
		words = words[1:]
	}
	return words
}

// connects reports a line, in lower case, that makes a connector or a skill known to somebody's agent; it is no part
// of carrying the skill out.
func connects(low string) bool {
	first, rest, _ := strings.Cut(strings.TrimSpace(low), " ")
	server := (first == "npx" || first == "uvx" || first == "bunx") && strings.Contains(rest, "mcp")
	return server || hasAny(low, connecting)
}

// fetching reports a line with a command that contacts an address to work with what is there.
func (l *line) fetching() bool {
	for _, c := range l.commands {
		if c.installs() {
			return false
		}
		if hasAny(l.low, programFiles) || strings.HasSuffix(strings.TrimSpace(l.low), ".sh") {
			return false
		}
		if fetchers[path.Base(c.words[0])] || strings.Contains(l.low, "curl ") && !hasAny(l.low, aboutCurl) {
			return !hasAny(l.low, pipedToShell)
		}
	}
	return false
}

// installs reports a command that fetches a program or a library; what it contacts is no need of the run.
func (c command) installs() bool {
	joined := " " + strings.Join(c.words[:min(len(c.words), 4)], " ") + " "
	return hasAny(joined, installing)
}
