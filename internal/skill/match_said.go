package skill

import "strings"

// matchAddress looks for an instruction to fetch a page whose address stands beside it.
func matchAddress(_ *judge, l *line) []hit {
	if l.setup || l.kind != prose || l.avoid || !strings.Contains(l.low, "://") {
		return nil
	}
	verb, address, ok := addressAfter(l.low)
	if !ok || negated(l.low[:verb]) {
		return nil
	}
	for _, h := range hosts(address) {
		if reachable(h) {
			return []hit{{need: Need{h, KindAPI}, line: l.no, seen: l.text, optional: l.optional || l.conditional()}}
		}
	}
	return nil
}

// addressReach is how far behind the verb an address may begin, in bytes: what is fetched, and "from".
const addressReach = 40

// addressAfter finds a verb for fetching with an address close behind it in the same sentence.
func addressAfter(low string) (verb int, address string, ok bool) {
	for _, v := range fetchingWords {
		at := strings.Index(low, v)
		if at < 0 || at > 0 && wordByte(low[at-1]) {
			continue
		}
		rest := low[at+len(v):]
		scheme := strings.Index(rest, "://")
		if scheme < 0 || scheme > addressReach || strings.ContainsAny(rest[:scheme], ".;!?|") {
			continue
		}
		return at, rest, true
	}
	return 0, "", false
}

// negated reports a text that ends a clause with a word against what follows.
func negated(before string) bool {
	before = strings.TrimRight(before, " *_`")
	return strings.HasSuffix(before, "not") || strings.HasSuffix(before, "never") || strings.HasSuffix(before, "don't")
}

// matchRegistry looks for commands that ask a registry of packages about what there is; installing is not asking.
func matchRegistry(_ *judge, l *line) (out []hit) {
	for _, c := range l.commands {
		joined := strings.Join(fetched(c.words), " ") + " "
		for _, q := range registryQueries {
			if strings.HasPrefix(joined, q.command) {
				out = append(out, hit{need: Need{q.host, KindAPI}, line: l.no, seen: l.text, optional: l.optional || l.setup})
				break
			}
		}
	}
	return out
}

// matchTellsAPI looks for the word that the skill's own program works with a product's API, as in "Fetches scores from
// the Kettle API", or sends its work to a model.
func matchTellsAPI(j *judge, l *line) []hit {
	if !l.instruction() || l.optional || l.setup || l.avoid || j.about().software || strings.HasPrefix(strings.TrimSpace(l.text), "|") {
		return nil
	}
	fields := strings.Fields(l.text)
	for i := range fields {
		if !reportingVerbs[strings.ToLower(strings.Trim(fields[i], "*_-:"))] {
			continue
		}
		for k := i + 1; k+1 < min(i+9, len(fields)); k++ {
			if strings.HasSuffix(fields[k-1], ".") {
				break
			}
			if name, what := fields[k], strings.TrimRight(fields[k+1], ".,;:)"); what == "API" && properName(name) {
				return []hit{{need: Need{strings.ToLower(name), KindService}, line: l.no, seen: l.text}}
			}
		}
	}
	if strings.Contains(l.low, " sends ") && hasAny(l.low, toModels) {
		return []hit{{need: Need{"", KindService}, line: l.no, seen: l.text}}
	}
	return nil
}

// properName reports a word that begins as names do and says no kind of API.
func properName(w string) bool {
	return len(w) > 2 && w[0] >= 'A' && w[0] <= 'Z' && onlyName(w) && !kindsOfAPI[strings.ToLower(w)] && !notProducts[strings.ToLower(w)]
}

// matchNamedTools looks for tools that are called by their names, as in `get_rounds`, in a text that speaks of tools and
// holds no program code. Each name counts once, for a connection that is not known.
func matchNamedTools(j *judge) (out []hit) {
	if j.about().software || j.about().servers || j.b.doc.holdsCode() {
		return nil
	}
	tools, seen := false, map[string]bool{}
	for i := range j.b.doc.lines {
		l := &j.b.doc.lines[i]
		tools = tools || l.instruction() && hasAny(l.low, speaksOfTools)
		for _, s := range l.spans {
			name, _, _ := strings.Cut(s, "(")
			verb, _, ok := strings.Cut(name, "_")
			if l.avoid || l.optional || seen[name] || !ok || !toolVerbs[verb] || strings.HasSuffix(name, "_file") || !onlyName(name) || strings.ToLower(name) != name {
				continue
			}
			seen[name] = true
			out = append(out, hit{need: Need{"", KindMCP}, line: l.no, seen: l.text})
		}
	}
	if !tools {
		return nil
	}
	return out
}
