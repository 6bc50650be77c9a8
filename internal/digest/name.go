package digest

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// MaxName is the longest name of a file or directory, in bytes of its NFC form: what ext4, NTFS and APFS all take.
const MaxName = 255

// IsSkillFile reports whether name is a spelling of SKILL.md that joy reads. A directory below the root that holds one
// is a bundle of its own, and no part of the outer one.
func IsSkillFile(name string) bool {
	return name == "SKILL.md" || name == "skill.md" || name == "Skill.md"
}

// ignored is the fixed list of what no digest covers. Adding to it changes treeHeader.
func ignored(name string, atRoot bool) bool {
	switch name {
	case ".git", ".DS_Store", "Thumbs.db", "desktop.ini":
		return true
	case "joy.lock", "joy.lock.sig", ".joy": // joy's own output beside a bundle that is built without joy.yaml
		return atRoot
	}
	return strings.HasPrefix(name, "._")
}

// CheckName says why name cannot be one element of a path on every system that joy runs on, or returns nil. The rules
// are those of Windows, the strictest
// (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
func CheckName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%q is not a file name", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("name %q is not valid UTF-8", name)
	case len(norm.NFC.String(name)) > MaxName:
		return fmt.Errorf("name %.40q… is longer than %d bytes", name, MaxName)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("name %q ends in a dot or a space", name)
	case reserved(name):
		return fmt.Errorf("name %q is reserved on Windows", name)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return fmt.Errorf("name %q holds a control character", name)
		}
		if strings.ContainsRune(`\/:*?"<>|`, r) {
			return fmt.Errorf("name %q holds %q, which other systems cannot store", name, r)
		}
	}
	return nil
}

// reserved reports names that Windows takes for devices, whatever extension follows.
func reserved(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.ContainsAny(port, "123456789¹²³")
}

// sameName is equal for two names that one file system or another would take for the same.
func sameName(name string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(name)))
}

// Globs decides which files joy.raw exempts from the line end rule.
type Globs []string

// ParseGlobs splits a list at commas and white space. An element without a slash matches the last element of a path,
// one with a slash the whole path; * and ? stay within an element, ** spans any number of them.
func ParseGlobs(list string) (Globs, error) {
	globs := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	for _, g := range globs {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("read glob %q: %w", g, err)
		}
	}
	return globs, nil
}

// Match reports whether one of the globs covers a path.
func (g Globs) Match(p string) bool {
	for _, glob := range g {
		if !strings.Contains(glob, "/") {
			if ok, _ := path.Match(glob, path.Base(p)); ok {
				return true
			}
			continue
		}
		if matchElements(strings.Split(glob, "/"), strings.Split(p, "/")) {
			return true
		}
	}
	return false
}

// matchElements goes back to the latest ** only, so that no glob of a stranger takes exponential time.
func matchElements(glob, elems []string) bool {
	g, e := 0, 0
	star, resume := -1, 0
	for e < len(elems) {
		if g < len(glob) && glob[g] == "**" {
			star, resume = g, e
			g++
			continue
		}
		if g < len(glob) {
			if ok, _ := path.Match(glob[g], elems[e]); ok {
				g, e = g+1, e+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		resume++
		g, e = star+1, resume
	}
	for g < len(glob) && glob[g] == "**" {
		g++
	}
	return g == len(glob)
}
