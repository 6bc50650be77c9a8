package skill

import "strings"

// word is one word of a line in lower case.
type word struct {
	text  string
	start bool // an instruction may begin here
	stop  bool // a clause ends before it
}

// maxWords bounds the words that one line is read for; what comes after is a wall of text, not an instruction.
const maxWords = 400

// readWords takes a line in lower case apart into out. Paths and file names stay whole.
func readWords(low string, out []word) []word {
	out = out[:0]
	start, stop, first := true, false, 0 // first is the index of the sentence's first word
	for i := 0; i < len(low) && len(out) < maxWords; {
		end := passedOver(low[i:])
		if low[i] == '\'' && (i == 0 || strings.IndexByte(" (,:", low[i-1]) >= 0) {
			end = singleQuoted(low[i:])
		}
		if end > 0 {
			i, stop = i+end, true
			continue
		}
		if !wordByte(low[i]) && !(low[i] == '.' || low[i] == '/' || low[i] == '~') || !wordStart(low[i:]) {
			if low[i] == ',' && len(out) > first && subordinate[out[first].text] {
				start, stop, first = true, true, maxWords // what goes before says when, what follows what to do
			} else if clauseEnd(low, i) {
				first = len(out)
				start, stop = low[i] != '(' && low[i] != ')', true
			}
			i++
			continue
		}
		end = i + 1
		for end < len(low) && (wordByte(low[end]) || inWord(low, end)) {
			end++
		}
		w := word{low[i:end], start, stop}
		digits := len(out) == 0 && strings.Trim(w.text, "0123456789") == "" // the number of a list item
		if !digits {
			out = append(out, w)
		}
		start, stop = digits || leads[w.text], false
		i = end
	}
	return out
}

// passedOver is the length of what is no instruction at the start of s: an address, a link to another page, a text in
// quotation marks, which is what somebody says or an example.
func passedOver(s string) int {
	switch {
	case s[0] == '[':
		return pageLink(s)
	case s[0] == 'h' && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")), strings.HasPrefix(s, "://"):
		if end := strings.IndexAny(s, " )>]|\t"); end > 0 {
			return end
		}
		return len(s)
	case s[0] == '"':
		return quoted(s, 1, "\"")
	case strings.HasPrefix(s, "“"):
		return quoted(s, len("“"), "”")
	case strings.HasPrefix(s, "`/"): // a slash command of an agent, with its example
		if end := quoted(s, 2, "`"); end > 0 && !strings.Contains(s[2:end], "/") {
			return end
		}
		return 0
	default:
		return 0
	}
}

// maxPassed is the longest link or quotation that is passed over, in bytes; a longer one is read like any text. It keeps
// the time for a line of opening brackets linear.
const maxPassed = 400

// singleQuoted is the length of a text in single quotation marks that are no apostrophes; 0 when it is none.
func singleQuoted(s string) int {
	end := quoted(s, 1, "'")
	if end == 0 || end < len(s) && wordByte(s[end]) {
		return 0
	}
	return end
}

// quoted is the length of a text that ends with a mark, both included; 0 when it does not end on the line.
func quoted(s string, from int, mark string) int {
	if end := strings.Index(s[from:min(len(s), maxPassed)], mark); end > 0 {
		return from + end + len(mark)
	}
	return 0
}

// pageLink is the length of a Markdown link to another page at the start of s, which points to more to read and is no
// work on a file; 0 when there is none.
func pageLink(s string) int {
	text, rest, ok := strings.Cut(s[:min(len(s), maxPassed)], "](")
	target, _, closed := strings.Cut(rest, ")")
	if !ok || !closed || strings.Contains(text[1:], "[") || !strings.Contains(target, ".md") && !strings.HasPrefix(target, "#") {
		return 0
	}
	return len(text) + len("](") + len(target) + len(")")
}

// inWord reports a byte that belongs to a word only between two others: the dot of report.md, the slash of a path.
func inWord(s string, i int) bool {
	if strings.IndexByte("<>{}*$", s[i]) >= 0 { // a place holder in a path
		return i+1 < len(s) && (wordByte(s[i+1]) || s[i+1] == '.' || s[i+1] == '/') && strings.IndexByte("-/._", s[i-1]) >= 0 ||
			(s[i] == '>' || s[i] == '}') && i+1 < len(s) && strings.IndexByte("./-", s[i+1]) >= 0
	}
	if s[i] == '#' && s[i-1] == 'c' && (i == 1 || !wordByte(s[i-2])) {
		return true // C#
	}
	return strings.IndexByte("./+#:&@", s[i]) >= 0 && i+1 < len(s) && wordByte(s[i+1]) || s[i] == '/' && s[i-1] != '/'
}

// wordStart reports that a word or a path begins here.
func wordStart(s string) bool {
	switch {
	case s[0] == '-' || len(s) == 1 && !wordByte(s[0]):
		return false
	case wordByte(s[0]):
		return true
	default:
		return wordByte(s[1]) && s[1] != '-' || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/")
	}
}

func clauseEnd(s string, i int) bool {
	switch s[i] {
	case '.', ':', ';', '!', '?', '|', '(', ')':
		return true
	case 0xe2: // an em dash or an arrow in UTF-8
		return strings.HasPrefix(s[i:], "—") || strings.HasPrefix(s[i:], "→")
	default:
		return false
	}
}

// near looks for a word of nouns at most reach words after i in the same clause; the index, or -1.
func near(words []word, i, reach int, nouns map[string]bool) int {
	for j := i + 1; j < len(words) && j <= i+reach && !words[j].stop; j++ {
		if nouns[words[j].text] {
			return j
		}
	}
	return -1
}

// told looks for an instruction made of a verb and, in the same clause, a noun at most reach words on.
func told(words []word, verbs map[string]bool, reach int, nouns map[string]bool) bool {
	return toldOf(words, verbs, reach, nouns, nil)
}

// toldOf is told, but for nouns that follow one of the words in but, as in "the reference file".
func toldOf(words []word, verbs map[string]bool, reach int, nouns, but map[string]bool) bool {
	for i := range words {
		if !words[i].start || !verbs[words[i].text] {
			continue
		}
		k := near(words, i, reach, nouns)
		if k >= 0 && !but[words[k-1].text] && (k+1 == len(words) || !systems[words[k+1].text]) {
			return true
		}
	}
	return false
}

// systems after a noun make another thing of it: a file system is no file.
var systems = set("system systems")

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 && c != 0xe2
}

// after looks for a word of set at most reach words before i.
func after(words []word, i, reach int, set map[string]bool) bool {
	for k := i - 1; k >= 0 && k >= i-reach; k-- {
		if set[words[k].text] {
			return true
		}
	}
	return false
}

// around looks for a word of set at most reach words before or after i.
func around(words []word, i, reach int, set map[string]bool) bool {
	for k := max(0, i-reach); k < len(words) && k <= i+reach; k++ {
		if set[words[k].text] {
			return true
		}
	}
	return false
}
