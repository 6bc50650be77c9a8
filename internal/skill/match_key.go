package skill

import "strings"

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
		shown = !l.optional && !hasAny(l.low, talkedAbout)
	}
	if !shown || j.about().reference {
		return nil
	}
	return keyHit(l)
}

func matchRequiredKey(j *judge, l *line) []hit {
	if !l.instruction() || l.optional || j.about().reference {
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
		if s := keyService(w); len(s) > 1 && !strings.Contains(l.text, "<"+w+">") {
			return []hit{{need: Need{s, KindService}, line: l.no, seen: l.text}}
		}
	}
	return nil
}
