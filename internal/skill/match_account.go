package skill

import (
	"path"
	"strings"
)

// unnamed is the name, while points are added up, of the service that a skill is about and that the place at hand does
// not name. What is said of it is said of the service that most else speaks for.
const unnamed = "?"

// matchAboutData looks in the description for data or things of a product that are worked with, as in "Fetch scores from
// Tea Room", "Access Kettle cameras", "Tea Room integration" and "CLI for Kettle".
func matchAboutData(j *judge) []hit {
	if j.about().software || j.about().servers || hasAny(strings.ToLower(j.b.Description), worksAlone) {
		return nil
	}
	fields := strings.Fields(j.b.Description)
	verb := -maxReach
	for i, f := range fields {
		word := strings.ToLower(strings.Trim(f, "\"'`(*_,;:"))
		if dataVerbs[word] {
			verb = i
		}
		name := strings.TrimRight(strings.Trim(f, "\"'`(*_"), ".,:;)'\"`*_")
		if known := byName[strings.ToLower(name)]; !isProduct(name) && !j.spelled(name) || known != nil && byWord[strings.ToLower(name)] == nil {
			continue
		}
		before := ""
		if i > 0 {
			before = strings.ToLower(fields[i-1])
		}
		worked := dataVerbs[before] || i-verb <= maxReach && dataPrepositions[before] || before == "for" && i > 1 && programWords[strings.ToLower(fields[i-2])]
		if worked || j.named(name) && i+1 < len(fields) && followedBy(fields[i+1:], integrationWords) {
			if next := ""; i+1 < len(fields) && name == fields[i] {
				if next = strings.TrimSuffix(strings.TrimRight(fields[i+1], ".,:;)'\""), "'s"); capitalised(next) {
					name += " " + next
				}
			}
			return []hit{{need: Need{strings.ToLower(name), KindService}, line: j.b.descriptionLine, seen: j.b.Description}}
		}
	}
	return nil
}

// maxReach is how many words before a product a verb may stand.
const maxReach = 8

// isProduct reports a name as products have it, that is no language, format or agent.
func isProduct(name string) bool {
	plain := strings.ReplaceAll(name, ".", "")
	if host, end, ok := strings.Cut(name, "."); ok && len(host) > 2 && siteEnds[end] && onlyName(host) {
		return true
	}
	return capitalised(plain) && !notProducts[strings.ToLower(plain)] && !dataVerbs[strings.ToLower(plain)]
}

// spelled reports a name in capitals that is the bundle's own and no format.
func (j *judge) spelled(name string) bool {
	low := strings.ToLower(name)
	return len(name) > 2 && strings.ToUpper(name) == name && j.named(name) && !fileExts[low] && !officeFormats[low] && !notProducts[low]
}

// siteEnds end the names of products that are called by their sites.
var siteEnds = set("io ai com dev app")

// followedBy reports a word of set among the next two.
func followedBy(fields []string, set map[string]bool) bool {
	for _, f := range fields[:min(len(fields), 2)] {
		if set[strings.ToLower(strings.TrimRight(f, ".,:;)"))] {
			return true
		}
	}
	return false
}

// named reports a word that is part of the bundle's name.
func (j *judge) named(word string) bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(j.b.Name), func(c rune) bool { return c == '-' || c == '_' || c == ' ' }) {
		if part == strings.ToLower(word) {
			return true
		}
	}
	return false
}

// matchCredential looks for a sentence that has the user get or set a key, or sign in, for the skill itself.
func matchCredential(j *judge, l *line) []hit {
	if !hasAny(l.low, signs) { // most lines have none
		return nil
	}
	if l.kind == comment || l.kind == code && codeLangs[l.lang] || l.optional || l.avoid || j.about().software || j.about().servers {
		return nil
	}
	if strings.Contains(l.low, "authorization: bearer") {
		return []hit{{need: Need{unnamed, KindService}, line: l.no, seen: l.text}}
	}
	if !hasAny(l.low, credentials) || !hasAny(l.low, getting) || hasAny(l.low, noCredentials) || hasAny(strings.ToLower(j.b.Description), worksAlone) {
		return nil
	}
	return []hit{{need: Need{unnamed, KindService}, line: l.no, seen: l.text}}
}

// matchOwnVariable looks for variables that begin with a word of the bundle's name and end as those for an account do:
// TEA_URL, TEA_CLIENT_ID.
func matchOwnVariable(j *judge, l *line) []hit {
	if l.kind == comment || l.optional || l.avoid || j.about().software || !strings.Contains(l.text, "_") {
		return nil
	}
	for _, w := range strings.FieldsFunc(l.text, func(c rune) bool {
		return !(c == '_' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')
	}) {
		for _, end := range accountEnds {
			owner, ok := strings.CutSuffix(w, end)
			first, rest, _ := strings.Cut(owner, "_")
			if ok && len(first) > 2 && (rest == "" || nobody[rest]) && !nobody[first] && j.named(first) {
				return []hit{{need: Need{strings.ToLower(first), KindService}, line: l.no, seen: l.text}}
			}
		}
	}
	return nil
}

// matchShipped looks for a script of the bundle that opens connections and that the text does not name.
func matchShipped(j *judge) []hit {
	if j.about().software || j.about().servers || len(j.b.candidatePaths) > 0 {
		return nil
	}
	for _, f := range j.b.Files {
		if _, script := interpreters[path.Ext(f.Path)]; !script || strings.Contains(f.Path, "test") {
			continue
		}
		data := j.b.Contents[f.Path]
		if low := strings.ToLower(string(data[:min(len(data), maxScript)])); hasAny(low, connectingCalls) {
			return []hit{{need: Need{unnamed, KindService}, file: f.Path, seen: "it uses a library for HTTP"}}
		}
	}
	return nil
}

// matchScriptCalls is matchScripts for hosts that the script does not name: what is called is the skill's own service.
func matchScriptCalls(j *judge) (out []hit) {
	for _, h := range matchScripts(j) {
		if h.need.Name == "" {
			h.need = Need{unnamed, KindService}
			out = append(out, h)
		}
	}
	return out
}
