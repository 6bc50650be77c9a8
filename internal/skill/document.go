package skill

import (
	"strings"
)

// lineKind is what a line of the body is to somebody who carries the skill out.
type lineKind uint8

const (
	prose   lineKind = iota
	heading          // # …
	code             // inside a fence
	quote            // > …
	comment          // inside an HTML comment
)

// line is one line of SKILL.md below the front matter, with what several rules ask of it.
type line struct {
	no       int // of SKILL.md
	text     string
	low      string // text in lower case
	kind     lineKind
	lang     string // of the fence, lower case; only for code
	setup    bool   // under a heading about getting ready, which is done before the skill is used
	optional bool   // under a heading, or with words, that make it dispensable
	avoid    bool   // under a heading, or in a list, of what is not to be done
	spans    []string
	commands []command
	into     bool // such a command keeps what comes in a file
	fetches  bool // it is part of a command that contacts an address, or of one that goes on from the line before
}

// document is the body as lines, so that rules ask what a line is and not how Markdown spells it.
type document struct {
	lines   []line
	passing bool // what program code there is are one or two blocks of a long text
}

// What is code in passing: no more blocks, and no more than one line of so many.
const (
	fewBlocks  = 2
	passedLine = 8
)

// holdsCode reports a block of program code outside of what is set up or optional.
func (d *document) holdsCode() bool {
	for i := range d.lines {
		if l := &d.lines[i]; l.kind == code && codeLangs[l.lang] && !l.setup && !l.optional {
			return true
		}
	}
	return false
}

// docReader takes a body apart, line by line.
type docReader struct {
	fence, lang   string
	blocks        int  // of program code
	spoken        bool // what stands in the fence is said to an agent
	dispatches    bool // the text sends other agents to work
	prompts       bool // the line before speaks of a prompt
	comment       bool
	titled        bool // the first heading was passed
	shunned       bool // in a list of what is not to be done
	setup, option heads
	avoid         heads
}

// heads remembers under how deep a heading something holds; 0 is nowhere.
type heads int

// at says that a heading of a depth was passed, and whether it says the thing itself.
func (h *heads) at(depth int, says bool) {
	if *h > 0 && depth <= int(*h) {
		*h = 0
	}
	if says && *h == 0 {
		*h = heads(depth)
	}
}

// readDocument takes the body apart. first is the line number of the first line of body. Time is linear in its length.
func readDocument(body string, first int) document {
	texts, lows := strings.Split(body, "\n"), strings.Split(strings.ToLower(body), "\n")
	r := docReader{dispatches: dispatches(lows)}
	fetching, calling, coded := false, false, 0
	d := document{lines: make([]line, 0, len(texts))}
	for i, text := range texts {
		l := line{no: first + i, text: text, low: lows[i]}
		if !r.place(&l) {
			continue
		}
		if trimmed := strings.TrimSpace(l.low); trimmed != "" {
			r.prompts = l.kind != code && strings.Contains(trimmed, "prompt")
		}
		l.avoid = r.avoid > 0 || r.shuns(&l)
		l.setup, l.optional = r.setup > 0, r.option > 0 || l.kind != code && hasAny(l.low, optionalWords)
		if l.kind != code && strings.IndexByte(text, '`') >= 0 {
			l.spans = spans(text)
		}
		l.commands = commandsOf(&l)
		goesOn := fetching && l.kind == code
		l.fetches = l.fetching() || goesOn
		l.into = l.fetches && hasAny(l.low+" ", intoFiles) || goesOn && d.lines[len(d.lines)-1].into
		fetching = l.fetches && strings.HasSuffix(strings.TrimSpace(text), "\\")
		if isCode(&l) {
			coded++
			calling = calling || hasAny(l.low, pythonFetches)
		}
		d.lines = append(d.lines, l)
	}
	d.passing = !calling && r.blocks <= fewBlocks && coded*passedLine < len(d.lines)
	return d
}

// dispatches reports a text that sends other agents to work: what they are told is its work.
func dispatches(lows []string) bool {
	for _, low := range lows {
		if strings.Contains(low, "agent") && hasAny(low, dispatching) {
			return true
		}
	}
	return false
}

// place decides what a line is; false for the marks of a fence, which are no content.
func (r *docReader) place(l *line) bool {
	trimmed := strings.TrimLeft(strings.TrimSpace(l.low), "> ")
	switch {
	case r.fence != "":
		if strings.HasPrefix(trimmed, r.fence) && strings.Trim(trimmed, r.fence[:1]) == "" {
			r.fence = ""
			return false
		}
		if !r.spoken {
			l.kind, l.lang = code, r.lang
		}
	case r.comment || strings.HasPrefix(trimmed, "<!--"):
		l.kind, r.comment = comment, !strings.Contains(trimmed, "-->")
	case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
		info := strings.TrimLeft(trimmed, trimmed[:1])
		r.fence = trimmed[:len(trimmed)-len(info)]
		r.lang = leadingWord(strings.TrimLeft(info, " \t{."))
		if codeLangs[r.lang] {
			r.blocks++
		}
		r.spoken = r.lang == "prompt" || r.dispatches && r.prompts && spokenLangs[r.lang]
		return false
	case strings.HasPrefix(trimmed, "#"):
		l.kind = heading
		depth := len(trimmed) - len(strings.TrimLeft(trimmed, "#"))
		title := depth == 1 && !r.titled // is about the whole and not about a part
		r.titled = true
		r.setup.at(depth, !title && hasAny(trimmed, setupHeadings))
		r.avoid.at(depth, !title && hasAny(trimmed, avoidHeadings))
		r.option.at(depth, !title && (hasAny(trimmed, optionalWords) || hasAny(trimmed, optionalHeadings)))
	case strings.HasPrefix(strings.TrimSpace(l.text), ">"):
		l.kind = quote
	}
	return true
}

// shuns reports a line of a list that follows a line like "Do not:"; the list ends with a line that is no part of it.
func (r *docReader) shuns(l *line) bool {
	trimmed := strings.TrimSpace(l.low)
	item := strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ")
	if l.kind != prose || trimmed == "" || item {
		return r.shunned && item && !strings.Contains(trimmed, "agent") // what others are to do is done
	}
	trimmed = strings.Trim(trimmed, "*_ ")
	r.shunned = strings.HasSuffix(trimmed, ":") && hasAny(trimmed, shunning)
	return false
}

// leadingWord is the language at the start of a fence's info string.
func leadingWord(s string) string {
	end := strings.IndexFunc(s, func(c rune) bool {
		return !(c == '_' || c == '+' || c == '#' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z')
	})
	if end < 0 {
		return s
	}
	return s[:end]
}

// spans are the texts between backquotes.
func spans(text string) (out []string) {
	for {
		_, rest, ok := strings.Cut(text, "`")
		in, after, closed := strings.Cut(rest, "`")
		if !ok || !closed {
			return out
		}
		if in = strings.TrimSpace(in); in != "" {
			out = append(out, in)
		}
		text = after
	}
}

// instruction reports a line that tells the reader something to do or know; a comment is not rendered to anybody.
func (l *line) instruction() bool { return l.kind == prose || l.kind == heading || l.kind == quote }

// said is the line in lower case as it is read for instructions. What follows "Prompt:" in quotation marks is said to an
// agent that carries the skill out, and is no quotation.
func (l *line) said() string {
	if words := strings.TrimLeft(l.low, " \t-*>"); strings.HasPrefix(words, "prompt:") || strings.HasPrefix(words, "prompt**:") {
		return strings.ReplaceAll(words, `"`, " ")
	}
	if l.kind == quote && (strings.HasPrefix(strings.TrimLeft(l.low, "> *_"), "i ") || strings.HasPrefix(strings.TrimLeft(l.low, "> *_"), "i'")) {
		return "" // what somebody says of himself
	}
	return l.low
}

// row reports a line of a table, which says what there is and not what to do.
func (l *line) row() bool { return strings.HasPrefix(strings.TrimSpace(l.text), "|") }

// conditional reports a line that begins with a condition: what it tells to do is done in some runs only.
func (l *line) conditional() bool {
	words := strings.TrimLeft(l.low, " \t-*>_0123456789.)")
	return strings.HasPrefix(words, "if ") || strings.HasPrefix(words, "without") || strings.HasPrefix(words, "otherwise")
}

func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
