package skill

import (
	"fmt"
	"path"
	"strings"

	"github.com/joystream-ai/joy/internal/secret/rules"
)

// judge reads a bundle once and asks every rule about it.
type judge struct {
	b       *Bundle
	words   []word // of the line at hand; empty when it is no instruction
	subject about
	own     map[string]bool // paths of the bundle; made when first asked for
}

// found is what one rule said, in order of its hits.
type found struct {
	*rule
	hits []hit
}

// ask puts the rules of all tables to the bundle in one pass over its lines.
func (j *judge) ask(tables ...[]rule) [][]found {
	out := make([][]found, len(tables))
	for t, table := range tables {
		out[t] = make([]found, len(table))
		for i := range table {
			out[t][i].rule = &table[i]
		}
	}
	for i := range j.b.doc.lines {
		l := &j.b.doc.lines[i]
		j.words = j.words[:0]
		if l.instruction() && !l.avoid {
			j.words = readWords(l.said(), j.words)
		}
		for t := range out {
			for k := range out[t] {
				if f := &out[t][k]; f.line != nil && len(f.hits) < maxHitsPerRule {
					f.hits = append(f.hits, f.line(j, l)...)
				}
			}
		}
	}
	for t := range out {
		for k := range out[t] {
			if f := &out[t][k]; f.whole != nil {
				f.hits = f.whole(j)
			}
		}
	}
	return out
}

// maxHitsPerRule bounds what a bundle of a thousand equal lines costs.
const maxHitsPerRule = 200

// sandbox weighs what the rules of sandboxRules found.
func (j *judge) sandbox(all []found) (required, unsure bool, evidence []Evidence) {
	sum := 0
	for _, f := range all {
		sum += f.points * min(len(f.hits), max(f.most, 1))
		evidence = append(evidence, j.evidence(f)...)
	}
	none := Evidence{Rule: ruleNoNeed, File: j.b.skillPath(), Line: j.b.BodyLine}
	switch {
	case sum >= enough:
		return true, false, evidence
	case sum == enough-1:
		return true, true, append(evidence, Evidence{
			ruleUnsure, j.b.skillPath(), 0,
			"unsure: there are signs of work in a sandbox and nothing settles it, so it is taken as needed",
		})
	case len(evidence) > 0:
		none.Line = 0
		none.Detail = fmt.Sprintf("what was seen weighs %d of the %d points that settle it: no command, code or work on files",
			max(sum, 0), enough)
	default:
		none.Detail = fmt.Sprintf("%d lines read: no command, code or work on files in them", len(j.b.doc.lines))
	}
	return false, false, append(evidence, none)
}

// evidence is what one rule says about the bundle, up to maxHits places.
func (j *judge) evidence(f found) (out []Evidence) {
	for _, h := range f.hits[:min(len(f.hits), maxHits)] {
		out = append(out, j.witness(f.rule, h))
	}
	return out
}

func (j *judge) witness(r *rule, h hit) Evidence {
	file := j.b.skillPath()
	if h.file != "" {
		file = path.Join(j.b.Dir, h.file)
	}
	name := ""
	if h.need.Name != "" && h.need.Name != unnamed {
		name = h.need.Name + ": "
	}
	return Evidence{r.id, file, h.line, name + r.means + ": " + shorten(strings.TrimSpace(h.seen))}
}

// maxSeen is how much of a stranger's line goes into evidence, in runes.
const maxSeen = 100

// shorten is what is shown of a stranger's text, without what has the shape of a credential.
func shorten(s string) string {
	s = rules.Default().Finder().Redact(s)
	n := 0
	for i := range s {
		if n++; n > maxSeen {
			return s[:i] + "…"
		}
	}
	return s
}
