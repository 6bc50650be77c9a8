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

// matchServiceCommand looks for programs that talk to a service, but not for their installation. A skill about writing
// software shows them for services that it is not about.
func matchServiceCommand(j *judge, l *line) (out []hit) {
	for _, c := range l.commands {
		c.words = fetched(c.words)
		s := byCommand[path.Base(c.words[0])]
		if s == nil || c.installs() || len(c.words) > 1 && (strings.HasPrefix(c.words[1], "--version") || c.words[1] == "version") {
			continue
		}
		if len(out) > 0 && out[len(out)-1].need == s.need() {
			continue // a line counts once
		}
		shown := j.about().software && !j.allows(c.words[0]) && !j.about().deploys && !strings.Contains(strings.ToLower(j.b.Description), s.name)
		out = append(out, hit{need: s.need(), line: l.no, seen: l.text, optional: l.optional || shown})
	}
	return out
}

// allows reports a program that the bundle is allowed to run by its name.
func (j *judge) allows(program string) bool {
	return slices.ContainsFunc(j.b.AllowedTools, func(t string) bool { return allowedProgram(t) == program })
}

// fetched leaves out a program before the command that fetches it, as in npx vercel@latest.
func fetched(words []string) []string {
	if words[0] != "npx" && words[0] != "bunx" && words[0] != "uvx" {
		return words
	}
	for i, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			name, _, _ := strings.Cut(w, "@")
			return append([]string{name}, words[i+2:]...)
		}
	}
	return words
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
			for _, part := range strings.Split(strings.Join(c.words, " "), " && ") {
				own(strings.Fields(part))
			}
		}
	}
	for _, s := range l.spans {
		own(strings.Fields(s))
	}
	return out
}

// owns reports a program that the bundle declares, is allowed to run, or shares its name with.
func (j *judge) owns(program string) bool {
	for _, part := range strings.Split(j.b.Name, "-") {
		if part == program {
			return true
		}
	}
	for _, t := range j.b.AllowedTools {
		if allowedProgram(t) == program {
			return true
		}
	}
	binaries, _ := j.b.declared()
	return slices.ContainsFunc(binaries, func(n Need) bool { return n.Name == program })
}

// matchServiceProse looks for an instruction to work with a service.
func matchServiceProse(j *judge, l *line) (out []hit) {
	if l.setup || len(j.words) == 0 || j.words[0].text == "install" {
		return nil
	}
	for i := range j.words {
		if !j.words[i].start || !callVerbs[j.words[i].text] {
			continue
		}
		for k := i + 1; k < len(j.words) && k <= i+9 && !j.words[k].stop; k++ {
			if s := serviceAt(j.words, k); s != nil && !j.pointsInside() {
				out = append(out, hit{need: s.need(), line: l.no, seen: l.text, optional: l.optional || j.about().software})
			}
		}
	}
	return out
}

// matchNamed looks for the names of services.
func matchNamed(j *judge, l *line) (out []hit) {
	if l.optional || len(j.words) == 0 || j.about().software {
		return nil
	}
	var last *service
	for i := range j.words {
		if s := serviceAt(j.words, i); s != nil && s != last && !j.pointsInside() {
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
	several := j.namesServices() >= severalServices
	for i, w := range j.words {
		if !after(j.words, i, 4, aboutWords) && !declares && !several {
			continue
		}
		s := serviceAt(j.words, i)
		if s == nil && byWord[w.text] == nil {
			s = byName[w.text] // a program's name is said of it also where the skill writes software for it
		} else if j.about().software {
			s = nil
		}
		if s != nil {
			out = append(out, hit{need: s.need(), line: j.b.descriptionLine, seen: j.b.Description})
		}
	}
	return out
}

// severalServices is from how many services on a description that names them is about work with them.
const severalServices = 3

// namesServices counts the services that the words at hand name.
func (j *judge) namesServices() int {
	named := map[*service]bool{}
	for i := range j.words {
		if s := serviceAt(j.words, i); s != nil {
			named[s] = true
		}
	}
	return len(named)
}

// matchCategory looks for a place holder of connectors in an instruction that works with it. Its name goes on to the
// mark that closes it, or is one word.
func matchCategory(_ *judge, l *line) []hit {
	before, rest, ok := strings.Cut(l.low, "~~")
	if !ok || l.setup || !l.instruction() || l.conditional() {
		return nil
	}
	end := strings.IndexAny(rest, "`*~")
	if end < 0 {
		end = strings.IndexFunc(rest, func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') })
	}
	if name := rest[:max(end, 0)]; name != "" && told(readWords(before+" "+rest, nil), callVerbs, 9, set(leadingWord(name))) {
		return []hit{{need: Need{name, KindMCP}, line: l.no, seen: l.text, optional: l.optional}}
	}
	return nil
}
