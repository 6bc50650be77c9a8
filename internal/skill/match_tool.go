package skill

import (
	"path"
	"slices"
	"strings"
)

func matchActions(j *judge) (out []hit) {
	for _, a := range j.b.Actions {
		connection, _, _ := strings.Cut(a, ".")
		out = append(out, hit{need: Need{connection, KindAction}, line: j.b.toolsLine, seen: a})
	}
	return out
}

// everyName as the name of a hit is about every tool there is.
const everyName = "*"

func matchNoCalls(j *judge, l *line) []hit {
	hits := matchNoTools(j, l)
	for i := range hits {
		hits[i].need.Name = everyName
	}
	return hits
}

func matchDeclaredServers(j *judge) (out []hit) {
	for _, r := range j.b.requirements() {
		for _, name := range append(r.list("mcp"), r.list("mcps")...) {
			out = append(out, hit{need: serverNeed(name), line: r.line, seen: name})
		}
	}
	return out
}

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
		if ok && len(name) > 2 && name[0] >= 'A' && name[0] <= 'Z' && onlyName(name) && tool != "" && onlyName(tool) && strings.ContainsAny(tool, "-_") {
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
	if !l.instruction() || !strings.Contains(l.low, "mcp") || j.about().servers {
		return nil
	}
	for i, w := range j.words {
		if w.text != "mcp" && w.text != "mcps" {
			continue
		}
		if !around(j.words, i, 8, usingWords) || around(j.words, i, 4, makingWords) {
			continue
		}
		name := serverBefore(l.text)
		return []hit{{need: serverNeed(name), line: l.no, seen: l.text, optional: l.optional || j.about().software && l.setup}}
	}
	return nil
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

// around looks for a word of set at most reach words before or after i.
func around(words []word, i, reach int, set map[string]bool) bool {
	for k := max(0, i-reach); k < len(words) && k <= i+reach; k++ {
		if set[words[k].text] {
			return true
		}
	}
	return false
}

// matchServiceCommand looks for programs that talk to a service, but not for their installation. A skill about writing
// software shows them for services that it is not about.
func matchServiceCommand(j *judge, l *line) (out []hit) {
	for _, c := range l.commands {
		s := byCommand[path.Base(c.words[0])]
		if s == nil || c.installs() || len(c.words) > 1 && (strings.HasPrefix(c.words[1], "--version") || c.words[1] == "version") {
			continue
		}
		if len(out) > 0 && out[len(out)-1].need == s.need() {
			continue // a line counts once
		}
		shown := j.about().software && !strings.Contains(strings.ToLower(j.b.Description), s.name)
		out = append(out, hit{need: s.need(), line: l.no, seen: l.text, optional: l.optional || shown})
	}
	return out
}

func matchDeclaredSecrets(j *judge) (out []hit) {
	for _, r := range j.b.requirements() {
		for _, name := range r.list("env") {
			if s := declaredService(name); s != "" {
				out = append(out, hit{need: Need{s, KindService}, line: r.line, seen: name})
			}
		}
	}
	for _, w := range strings.FieldsFunc(j.b.Compatibility, func(c rune) bool { return c < '0' || c > 'Z' && c != '_' }) {
		if s := keyService(w); s != "" && !hasAny(strings.ToLower(j.b.Compatibility), optionalWords) {
			out = append(out, hit{need: Need{s, KindService}, line: j.b.descriptionLine, seen: w})
		}
	}
	return out
}

// matchKey looks for the name of a key that somebody has to provide, outside code of the software that the skill is
// about.
func matchKey(j *judge, l *line) []hit {
	shown := l.kind == code && (shellLangs[l.lang] || l.lang == "" || l.lang == "python" && !j.about().software || l.lang == "json")
	if l.kind != code && l.kind != comment {
		shown = !l.optional
	}
	if !shown {
		return nil
	}
	return keyHit(l)
}

func matchRequiredKey(_ *judge, l *line) []hit {
	if !l.instruction() || l.optional {
		return nil
	}
	if hits := keyHit(l); hits != nil && hasAny(l.low, requiring) {
		return hits
	}
	return nil
}

// keyHit is the first name of a service's key in the line.
func keyHit(l *line) []hit {
	if !strings.Contains(l.text, "_KEY") && !strings.Contains(l.text, "_TOKEN") && !strings.Contains(l.text, "_API_") {
		return nil
	}
	for _, w := range strings.FieldsFunc(l.text, func(c rune) bool {
		return !(c == '_' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')
	}) {
		if s := keyService(w); len(s) > 1 {
			return []hit{{need: Need{s, KindService}, line: l.no, seen: l.text}}
		}
	}
	return nil
}

// matchOwnProgram looks for a command that signs in with the program that the skill is about: it is declared, or the
// skill has its name. Such a program works for a service.
func matchOwnProgram(j *judge, l *line) (out []hit) {
	own := func(words []string) {
		if len(words) > 1 && !commandNames[words[0]] && onlyName(words[0]) && hasAny(words[1], signingIn) && j.owns(words[0]) {
			out = append(out, hit{need: Need{strings.ToLower(words[0]), KindService}, line: l.no, seen: l.text})
		}
	}
	if l.kind == code {
		for _, c := range l.commands {
			own(c.words)
		}
	}
	for _, s := range l.spans {
		own(strings.Fields(s))
	}
	return out
}

// owns reports a program that the bundle declares or shares its name with.
func (j *judge) owns(program string) bool {
	for _, part := range strings.Split(j.b.Name, "-") {
		if part == program {
			return true
		}
	}
	binaries, _ := j.b.declared()
	return slices.ContainsFunc(binaries, func(n Need) bool { return n.Name == program })
}

// matchServiceProse looks for an instruction to work with a service.
func matchServiceProse(j *judge, l *line) (out []hit) {
	if l.setup || len(j.words) == 0 {
		return nil
	}
	for i := range j.words {
		if !j.words[i].start || !callVerbs[j.words[i].text] {
			continue
		}
		for k := i + 1; k < len(j.words) && k <= i+9 && !j.words[k].stop; k++ {
			if s := byWord[j.words[k].text]; s != nil {
				out = append(out, hit{need: s.need(), line: l.no, seen: l.text, optional: l.optional || j.about().software})
			}
		}
	}
	return out
}

// matchNamed looks for the names of services.
func matchNamed(j *judge, l *line) (out []hit) {
	if l.optional {
		return nil
	}
	var last *service
	for _, w := range j.words {
		if s := byWord[w.text]; s != nil && s != last && !j.about().software {
			last = s
			out = append(out, hit{need: s.need(), line: l.no, seen: l.text})
		}
	}
	return out
}

// matchAbout looks for services and MCP servers in the description. What it says of a service that the skill is
// software for does not count, unless that is a program's name: a skill that builds for it runs it.
func matchAbout(j *judge) (out []hit) {
	binaries, _ := j.b.declared()
	declares := len(binaries) > 0 // the program that it needs is the service's
	j.words = readWords(strings.ToLower(j.b.Description), j.words)
	for i, w := range j.words {
		if !after(j.words, i, 4, aboutWords) && !declares {
			continue
		}
		if s := byWord[w.text]; s != nil && !j.about().software || s == nil && byName[w.text] != nil {
			out = append(out, hit{need: byName[w.text].need(), line: j.b.descriptionLine, seen: j.b.Description})
		}
	}
	return out
}

// matchAboutServer looks for MCP servers in the description that the skill is not there to write.
func matchAboutServer(j *judge) []hit {
	low := strings.ToLower(j.b.Description)
	if !strings.Contains(low, "mcp") || j.about().servers {
		return nil
	}
	j.words = readWords(low, j.words)
	for i, w := range j.words {
		if (w.text == "mcp" || w.text == "mcps") && after(j.words, i, 6, throughWords) {
			name := serverBefore(j.b.Description)
			if i > 0 && localServers[j.words[i-1].text] {
				name = j.words[i-1].text
			}
			return []hit{{need: serverNeed(name), line: j.b.descriptionLine, seen: j.b.Description}}
		}
	}
	return nil
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
