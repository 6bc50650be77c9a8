package skill

import (
	"slices"
	"strings"
)

// about is what the description says the skill is for, as far as tools are concerned.
type about struct {
	read       bool
	software   bool // it writes software: what that calls is no call of the skill
	integrates bool // its description begins with that, and it shows the code
	reference  bool // its description says that it is a reference: what it shows is for programs to come
	servers    bool // it writes MCP servers or agents' plugins
	deploys    bool // it deploys software, and so runs the programs of services that it shows
	without    bool // it says what to do without MCP servers
}

func (j *judge) about() *about {
	if j.subject.read {
		return &j.subject
	}
	j.subject.read = true
	for i := range j.b.doc.lines {
		l := &j.b.doc.lines[i]
		j.subject.without = j.subject.without || strings.Contains(l.low, "mcp") && hasAny(l.low, withoutServers)
	}
	name := strings.Split(j.b.Name, "-")
	j.subject.servers = slices.Contains(name, "mcp") && slices.ContainsFunc(name, func(w string) bool { return makeVerbs[w] || makingWords[w] })
	low := strings.ToLower(j.b.Description)
	words := readWords(strings.ReplaceAll(low, `"`, " "), nil)
	j.subject.deploys = firstOf(words, deploying) != ""
	j.subject.integrates = len(words) > 0 && integrating[words[0].text] && j.b.doc.holdsCode()
	j.subject.reference = len(words) > 1 && words[0].text == "reference" || strings.Contains(low, "reference skill")
	j.subject.software = j.subject.integrates || j.subject.reference
	for i, w := range words {
		if makeVerbs[w.text] && near(words, i, 8, devNouns) >= 0 || devNouns[w.text] && i+1 < len(words) && words[i+1].text == "development" || w.text == "sdk" && firstOf(words, referenceWords) != "" {
			j.subject.software = true
		}
		if makeVerbs[w.text] && following(words, i, 8, serverNouns) || serverNouns[w.text] && i+1 < len(words) && makingWords[words[i+1].text] {
			j.subject.servers = true
		}
	}
	return &j.subject
}

// following looks for a word of set at most reach words after i, in the next clause too, but not past a word for the
// means: who ships a thing through a server makes no server.
func following(words []word, i, reach int, set map[string]bool) bool {
	for k := i + 1; k < len(words) && k <= i+reach && !throughWords[words[k].text]; k++ {
		if set[words[k].text] {
			return true
		}
	}
	return false
}
