package skill

import (
	"cmp"
	"strings"
)

// serverNeed is a need of an MCP server, as a local one where it works on the user's machine.
func serverNeed(name string) Need {
	name = strings.ToLower(name)
	if localServers[name] {
		return Need{name, KindLocal}
	}
	return Need{name, KindMCP}
}

// matchServerTool looks for mcp__server__tool anywhere but in code, and for Server:tool between backquotes.
func matchServerTool(j *judge, l *line) (out []hit) {
	if l.kind == comment || l.kind == code && codeLangs[l.lang] || j.about().servers {
		return nil
	}
	for rest := l.text; ; {
		_, after, ok := strings.Cut(rest, "mcp__")
		if !ok {
			break
		}
		rest = after
		if name, tool, ok := strings.Cut(after, "__"); ok && name != "" && tool != "" && onlyName(name) {
			out = append(out, hit{need: serverNeed(plainServer(name)), line: l.no, seen: l.text, optional: l.optional})
		}
	}
	for _, s := range l.spans {
		name, tool, ok := strings.Cut(s, ":")
		if ok && len(name) > 2 && name[0] >= 'A' && name[0] <= 'Z' && onlyName(name) && tool != "" && onlyName(tool) && strings.ContainsAny(tool, "-_") && !placeholders[strings.ToLower(name)] {
			out = append(out, hit{need: serverNeed(name), line: l.no, seen: l.text, optional: l.optional})
		}
	}
	return out
}

// plainServer takes away what agents put around a server's own name.
func plainServer(name string) string {
	name = strings.ToLower(name)
	for _, p := range []string{"plugin_", "claude_ai_"} {
		name = strings.TrimPrefix(name, p)
	}
	return strings.TrimSuffix(name, "_mcp")
}

func onlyName(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i]) {
			return false
		}
	}
	return true
}

// matchServerProse looks for the word mcp in an instruction that uses it.
func matchServerProse(j *judge, l *line) []hit {
	row := strings.HasPrefix(strings.TrimSpace(l.text), "|") // tells what there is, not what to do
	if !l.instruction() || row || !strings.Contains(l.low, "mcp") || j.about().servers {
		return nil
	}
	for i, w := range j.words {
		own := hyphenated(w.text)
		if w.text != "mcp" && w.text != "mcps" && own == "" {
			continue
		}
		if !around(j.words, i, 8, usingWords) || around(j.words, i, 4, makingWords) {
			continue
		}
		need := serverNeed(cmp.Or(own, serverBefore(l.text)))
		if after(j.words, i, 3, serverStarts) {
			need.Kind = KindLocal // the skill starts it
		}
		optional := l.optional || j.about().without || j.about().reference || j.about().software && l.setup
		return []hit{{need: need, line: l.no, seen: l.text, optional: optional}}
	}
	return nil
}

// hyphenated is the server in a name such as tea-mcp-server or mcp-tea; empty in any other word.
func hyphenated(word string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "-server")
	if own, ok := strings.CutSuffix(name, "-mcp"); ok && onlyName(own) {
		return own
	}
	if own, ok := strings.CutPrefix(name, "mcp-"); ok && onlyName(own) && !makingWords[own] && own != "server" {
		return own
	}
	return ""
}

// serverBefore is the capitalised word, or the one between backquotes, before MCP; empty when there is none.
func serverBefore(text string) string {
	before, _, ok := strings.Cut(text, "MCP")
	words := strings.Fields(before)
	if !ok || len(words) == 0 || !strings.HasSuffix(before, " ") {
		return ""
	}
	last := words[len(words)-1]
	name := strings.Trim(last, "`*_~\"'(")
	quoted := strings.HasPrefix(last, "`") || strings.HasPrefix(last, "~~")
	if name == "" || !onlyName(name) || plainWords[strings.ToLower(name)] || !quoted && (name[0] < 'A' || name[0] > 'Z') {
		return ""
	}
	return name
}

// matchAboutServer looks for MCP servers in the description that the skill is not there to write.
func matchAboutServer(j *judge) []hit {
	low := strings.ToLower(j.b.Description)
	if !strings.Contains(low, "mcp") {
		return nil
	}
	reach := 6
	if j.about().servers {
		reach = 2 // what is made may be spoken of, what it is made with stands close by
	}
	j.words = readWords(low, j.words)
	for i, w := range j.words {
		if (w.text == "mcp" || w.text == "mcps") && after(j.words, i, reach, throughWords) && (reach > 2 || j.usesTools(i)) {
			name := serverBefore(j.b.Description)
			if i > 0 && localServers[j.words[i-1].text] {
				name = j.words[i-1].text
			}
			return []hit{{need: serverNeed(name), line: j.b.descriptionLine, seen: j.b.Description, optional: j.about().without}}
		}
	}
	return nil
}

// usesTools reports a word for MCP, of a description, between "using" or "via" and the word for tools.
func (j *judge) usesTools(i int) bool {
	return after(j.words, i, 2, usingOnly) && i+1 < len(j.words) && strings.HasPrefix(j.words[i+1].text, "tool")
}

// matchServerConfig looks for the first name below "mcpServers" in a block.
func matchServerConfig(j *judge) (out []hit) {
	if j.about().servers || j.about().software {
		return nil
	}
	open := false
	for i := range j.b.doc.lines {
		l := &j.b.doc.lines[i]
		if key := strings.Trim(strings.TrimSpace(l.low), `":{ `); l.kind != code {
			open = false
		} else if key == "mcpservers" {
			open = true
		} else if open && onlyName(key) && key != "" {
			out, open = append(out, hit{need: serverNeed(key), line: l.no, seen: l.text, optional: l.optional}), false
		}
	}
	return out
}
