package skill

import "strings"

// matchPurpose asks of the description what the skill is for.
func matchPurpose(j *judge) []hit {
	j.words = readWords(strings.ToLower(j.b.Description), j.words)
	if len(j.words) > 0 && adviceVerbs[j.words[0].text] {
		return nil // what a skill is for comes first
	}
	for i, w := range j.words {
		if runningVerbs[w.text] && near(j.words, i, 4, runNouns) >= 0 {
			return []hit{{line: j.b.descriptionLine, seen: j.b.Description}}
		}
		if !devVerbs[w.text] || after(j.words, i, 2, negations) {
			continue
		}
		if k := near(j.words, i, 8, devNouns); k >= 0 {
			return []hit{{line: j.b.descriptionLine, seen: w.text + " … " + j.words[k].text}}
		}
	}
	if told(j.words, lookVerbs, 6, codeNouns) {
		return []hit{{line: j.b.descriptionLine, seen: j.b.Description}}
	}
	if tech, kind := guideline(j.words); tech != "" {
		return []hit{{line: j.b.descriptionLine, seen: tech + " … " + kind}}
	}
	making, term := firstOf(j.words, makingVerbs), firstOf(j.words, techTerms)
	if term == "" || making == "" && term != "sdk" {
		return nil
	}
	return []hit{{line: j.b.descriptionLine, seen: making + " … " + term}}
}

// matchAboutFiles asks of the description whether files are worked on.
func matchAboutFiles(j *judge) []hit {
	j.words = readWords(strings.ToLower(j.b.Description), j.words)
	if !told(j.words, documentVerbs, 6, documentNouns) {
		return nil
	}
	return []hit{{line: j.b.descriptionLine, seen: j.b.Description}}
}

// guideline finds a technology that programs are written with beside a word for how that is done, as in "React patterns".
func guideline(words []word) (tech, kind string) {
	for i, w := range words {
		if !programmedWith[w.text] {
			continue
		}
		if k := near(words, i, 5, guidelineWords); k >= 0 {
			return w.text, words[k].text
		}
		for k := i - 1; k >= 0 && k >= i-5 && !words[k+1].stop; k-- {
			if guidelineWords[words[k].text] {
				return w.text, words[k].text
			}
		}
	}
	return "", ""
}

// agents after a word for software say who works, and not on what.
var agents = set("agent agents assistant assistants")

// firstOf is the first word that is in set.
func firstOf(words []word, set map[string]bool) string {
	for i, w := range words {
		if set[w.text] && (i+1 == len(words) || !agents[words[i+1].text]) {
			return w.text
		}
	}
	return ""
}

// matchPrograms looks for programs that the front matter declares to need.
func matchPrograms(j *judge) (out []hit) {
	binaries, _ := j.b.declared()
	for _, n := range binaries {
		out = append(out, hit{line: max(j.b.metadataLine, j.b.requiresLine), seen: n.Name})
	}
	return out
}

// matchCompatibility looks for an environment to run programs in.
func matchCompatibility(j *judge) []hit {
	words := readWords(strings.ToLower(j.b.Compatibility), nil)
	if firstOf(words, needWords) == "" || firstOf(words, environments) == "" {
		return nil
	}
	return []hit{{line: j.b.compatibilityLine, seen: j.b.Compatibility}}
}
