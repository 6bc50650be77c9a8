package skill

import "strings"

// matchRequiredService looks for programs of services that compatibility or the description requires.
func matchRequiredService(j *judge) (out []hit) {
	needs := false
	for _, part := range strings.FieldsFunc(strings.ToLower(j.b.Compatibility), func(c rune) bool { return c == ';' || c == '.' || c == ',' }) {
		words := readWords(part, nil)
		needs = needs || firstOf(words, needWords) != ""
		for _, w := range words {
			if s := byCommand[w.text]; s != nil && needs && !hasAny(part, optionalWords) {
				out = append(out, hit{need: s.need(), line: j.b.compatibilityLine, seen: j.b.Compatibility})
			}
		}
	}
	words := readWords(strings.ToLower(j.b.Description), nil)
	for i, w := range words {
		if s := byCommand[w.text]; s != nil && after(words, i, 4, needWords) && !after(words, i, 1, negations) {
			out = append(out, hit{need: s.need(), line: j.b.descriptionLine, seen: j.b.Description})
		}
	}
	return out
}

// matchRequiredAccount looks for "a Tea account" and "a Tea API key" in a compatibility or a description that requires
// something.
func matchRequiredAccount(j *judge) []hit {
	if name := requiredAccount(j.b.Compatibility); name != "" {
		return []hit{{need: Need{name, KindService}, line: j.b.compatibilityLine, seen: j.b.Compatibility}}
	}
	if name := requiredAccount(j.b.Description); name != "" && !j.about().software {
		return []hit{{need: Need{name, KindService}, line: j.b.descriptionLine, seen: j.b.Description}}
	}
	return nil
}

// requiredAccount is the product, in lower case, whose account or key the text says to require; empty for none.
func requiredAccount(text string) string {
	low := strings.ToLower(text)
	at := strings.Index(low, "require")
	if at < 0 || len(low) != len(text) || hasAny(low, optionalWords) {
		return ""
	}
	fields := strings.Fields(text[at:])
	for i := 1; i < len(fields); i++ {
		name, what := fields[i-1], strings.TrimRight(fields[i], ".,;:)")
		if (what == "account" || what == "API") && capitalised(name) && name != "Requires" && !notProducts[strings.ToLower(name)] {
			return strings.ToLower(name)
		}
	}
	return ""
}

// matchAllowed looks for programs of services among the allowed tools, as in Bash(gh issue:*).
func matchAllowed(j *judge) (out []hit) {
	for _, t := range j.b.AllowedTools {
		if s := byCommand[allowedProgram(t)]; s != nil {
			out = append(out, hit{need: s.need(), line: j.b.toolsLine, seen: t})
		}
	}
	return out
}

// allowedProgram is the program that an allowed tool runs: gh of Bash(gh issue:*); empty when it is no such tool.
func allowedProgram(tool string) string {
	name, args, _ := strings.Cut(tool, "(")
	if !strings.EqualFold(strings.TrimSpace(name), "bash") {
		return ""
	}
	program, _, _ := strings.Cut(strings.TrimRight(args, ")"), ":")
	program, _, _ = strings.Cut(program, " ")
	return program
}

// matchConnected looks for the word that a source has to be connected. It may be in what is said to the user.
func matchConnected(j *judge, l *line) []hit {
	_, after, ok := strings.Cut(l.low, "at least one ")
	if !ok || l.kind == comment || l.optional || j.about().software || !strings.Contains(after, "connected") {
		return nil
	}
	return []hit{{need: Need{"", KindMCP}, line: l.no, seen: l.text}}
}

// matchNeverTalks looks for the word that a service is not talked to.
func matchNeverTalks(j *judge, l *line) (out []hit) {
	for i, w := range j.words {
		if !talking[w.text] || !after(j.words, i, 2, negations) {
			continue
		}
		for k := i + 1; k < len(j.words) && k <= i+3 && !j.words[k].stop; k++ {
			if s := byWord[j.words[k].text]; s != nil {
				out = append(out, hit{need: s.need(), line: l.no, seen: l.text})
			}
		}
	}
	return out
}

// matchProduct looks for lines that work in, from or through a product which the description names after such a word.
func matchProduct(j *judge) (out []hit) {
	if j.about().software || j.b.doc.holdsCode() {
		return nil
	}
	for _, name := range products(j.b.Description) {
		need := Need{strings.ToLower(name), KindService}
		if s := byName[need.Name]; s != nil {
			need = s.need()
		}
		for i := range j.b.doc.lines {
			l := &j.b.doc.lines[i]
			if l.instruction() && l.kind != heading && !l.optional && !l.setup && worksIn(l.text, name) {
				out = append(out, hit{need: need, line: l.no, seen: l.text})
			}
		}
	}
	return out
}

func worksIn(text, name string) bool {
	for _, w := range inWords {
		if strings.Contains(text, w+name) {
			return true
		}
	}
	return false
}

// products are the capitalised names, of up to two words, after a word for the means in a description.
func products(description string) (out []string) {
	fields := strings.Fields(description)
	for i := 0; i+1 < len(fields); i++ {
		if !throughWords[fields[i]] {
			continue
		}
		name := ""
		for _, f := range fields[i+1 : min(i+3, len(fields))] {
			word := strings.TrimSuffix(strings.TrimRight(f, ".,:;)'\""), "'s")
			if !capitalised(word) {
				break
			}
			name = strings.TrimSpace(name + " " + word)
			if word != f {
				break
			}
		}
		if name != "" && !notProducts[strings.ToLower(name)] {
			out = append(out, name)
		}
	}
	return out
}

// capitalised reports a name as products have it: a capital, and not capitals alone, which are formats and acronyms.
func capitalised(w string) bool {
	return len(w) > 2 && w[0] >= 'A' && w[0] <= 'Z' && strings.ToUpper(w) != w && onlyName(w)
}

// matchAboutAPI looks for a product's API after a word for the means in the description, as in "via the Tea Web API".
func matchAboutAPI(j *judge) (out []hit) {
	fields := strings.Fields(j.b.Description)
	for i := 0; i+1 < len(fields); i++ {
		if !throughWords[fields[i]] {
			continue
		}
		rest := fields[i+1 : min(i+6, len(fields))]
		if rest[0] == "the" {
			rest = rest[1:]
		}
		if len(rest) < 2 || !capitalised(strings.TrimSuffix(rest[0], "'s")) && !isProduct(rest[0]) {
			continue
		}
		for _, f := range rest[1:] {
			if what := strings.TrimRight(f, ".,;:)"); what == "CLI" || what == "API" && !j.about().software {
				name := strings.ToLower(strings.TrimSuffix(rest[0], "'s"))
				out = append(out, hit{need: Need{name, KindService}, line: j.b.descriptionLine, seen: j.b.Description})
			}
		}
	}
	return out
}
