package skill

import (
	"fmt"
	"path"
)

// Sandbox determines whether carrying the skill out needs the VM, with the evidence. It never runs out of an answer:
// what stays unsure is required, and an evidence of rule JOY-BOX-UNSURE says so. The same bytes and RulesVersion give
// the same answer, in the same order.
func (b *Bundle) Sandbox() (required bool, evidence []Evidence) {
	suggesting := 0
	for _, r := range sandboxRules {
		found := b.evidence(r)
		if len(found) == 0 {
			continue
		}
		evidence = append(evidence, found...)
		if r.weight == decides {
			required = true
		} else {
			suggesting++
		}
	}
	switch {
	case required || suggesting > 1:
		return true, evidence
	case suggesting == 1 && b.SkillKind == Instruction:
		return false, append(evidence, Evidence{
			ruleNoNeed, b.skillPath(), 0,
			"skill_kind is instruction, and nothing in the text runs code or works on files",
		})
	case suggesting == 1:
		return true, append(evidence, Evidence{
			ruleUnsure, b.skillPath(), 0,
			"unsure: one thing suggests work in a sandbox and nothing settles it, so it is taken as needed",
		})
	default:
		return false, []Evidence{{
			ruleNoNeed, b.skillPath(), b.BodyLine,
			fmt.Sprintf("%d lines read: no command, code or work on files in them", len(b.doc.lines)),
		}}
	}
}

// evidence is what one rule says about the bundle.
func (b *Bundle) evidence(r rule) []Evidence {
	var out []Evidence
	for _, s := range r.match(b) {
		if len(out) == maxSights {
			break
		}
		out = append(out, Evidence{r.id, b.skillPath(), s.line, r.means + ": " + shorten(s.seen)})
	}
	return out
}

// maxSeen is how much of a stranger's line goes into evidence, in runes.
const maxSeen = 100

func shorten(s string) string {
	if r := []rune(s); len(r) > maxSeen {
		return string(r[:maxSeen]) + "…"
	}
	return s
}

// findCandidates looks for bundled scripts that the text runs.
func (b *Bundle) findCandidates() []Evidence {
	var out []Evidence
	for _, f := range b.Files {
		if !isScript(f.Path, b.Contents[f.Path]) {
			continue
		}
		for _, l := range b.doc.lines {
			if runs(l, f.Path) {
				out = append(out, Evidence{
					"JOY-CANDIDATE", path.Join(b.Dir, f.Path), l.no,
					"SKILL.md runs it: " + shorten(trimLine(l.text)),
				})
				b.candidatePaths = append(b.candidatePaths, f.Path)
				break
			}
		}
	}
	return out
}
