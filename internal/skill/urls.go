package skill

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// urlCount counts the hosts that SKILL.md and the scripts name.
type urlCount struct {
	hosts map[string]bool
	total int
	file  string // where the first one stands
	at    int
}

// shownHosts is how many hosts the note names.
const shownHosts = 5

// maxHosts bounds what is remembered; a bundle that names more is told to name more.
const maxHosts = 1000

func (u *urlCount) line(low, file string, n int) {
	if !strings.Contains(low, "://") {
		return
	}
	for _, h := range hosts(low) {
		if !reachable(h) || len(u.hosts) >= maxHosts {
			continue
		}
		if u.hosts == nil {
			u.hosts, u.file, u.at = map[string]bool{}, file, n
		}
		u.hosts[h] = true
		u.total++
	}
}

// report says in one note which hosts there are: what they serve is not covered by the pin.
func (u *urlCount) report(b *Bundle, r *report) {
	if u.total == 0 {
		return
	}
	names := make([]string, 0, len(u.hosts))
	for h := range u.hosts {
		names = append(names, h)
	}
	slices.Sort(names)
	list := strings.Join(names[:min(len(names), shownHosts)], ", ")
	if more := len(names) - shownHosts; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	r.add(SeverityNote, RuleURL, path.Join(b.Dir, u.file), place{line: u.at},
		fmt.Sprintf("%d addresses of %d hosts, whose content the pin does not cover: %s", u.total, len(names), list))
}

// outside says in one note which relative links of SKILL.md lead out of the bundle: in the VM there is nothing there.
func (b *Bundle) outside(r *report) {
	count, first, target := 0, 0, ""
	for i := range b.doc.lines {
		l := &b.doc.lines[i]
		for _, t := range linkTargets(l) {
			if !leaves(t) || path.IsAbs(t) {
				continue
			}
			if count++; count == 1 {
				first, target = l.no, t
			}
		}
	}
	if count > 0 {
		r.add(SeverityNote, RuleOutside, b.skillPath(), place{line: first},
			fmt.Sprintf("%d links lead out of the bundle, where nothing is when it runs: %s", count, shorten(target)))
	}
}

// linkTargets are the relative targets of Markdown links in a line.
func linkTargets(l *line) (out []string) {
	if l.kind == code || l.kind == comment {
		return nil
	}
	for rest := l.text; ; {
		_, after, ok := strings.Cut(rest, "](")
		if !ok {
			return out
		}
		target, _, closed := strings.Cut(after[:min(len(after), maxPassed)], ")")
		target, _, _ = strings.Cut(target, "#")
		if closed && target != "" && !strings.Contains(target, "://") {
			out = append(out, target)
		}
		rest = after
	}
}
