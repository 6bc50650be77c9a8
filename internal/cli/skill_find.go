package cli

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// skillHomes are the directories in which agents look for bundles, at the top of a project or of a part of it.
var skillHomes = []string{".claude/skills", ".agents/skills", ".github/skills", ".cursor/skills", "skills"}

// Limits of looking for bundles.
const (
	maxFindDirs  = 200_000
	maxFindDepth = 16
)

// passed over are directories full of other people's files, in which a bundle is not the project's.
var passedOver = []string{".git", ".joy", "node_modules", "vendor", "__pycache__", ".venv"}

// findSkills lists the directories with a SKILL.md at or below dir, sorted; with homes only those below one of
// skillHomes. Links are not followed. found is relative to dir, with forward slashes.
func (a *app) findSkills(dir string, homes bool) (found []string, err error) {
	root, err := ordinary.OpenRoot(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "look for bundles")
	}
	defer root.Close()
	dirs := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if entry != nil && entry.IsDir() && name != "." {
				a.warn("%s cannot be read, and is left out", a.line(path.Join(filepath.ToSlash(dir), name)))
				return fs.SkipDir
			}
			return err
		}
		if !entry.IsDir() {
			if digest.IsSkillFile(entry.Name()) && (!homes || atHome(path.Dir(name))) {
				found = append(found, path.Dir(name))
			}
			return nil
		}
		dirs++
		switch {
		case dirs > maxFindDirs:
			return fault.New(fault.Input, "there are more than %d directories here", maxFindDirs).WithHint("name the directories of the bundles")
		case slices.Contains(passedOver, entry.Name()) && name != ".", strings.Count(name, "/") >= maxFindDepth:
			return fs.SkipDir
		}
		return nil
	})
	slices.Sort(found)
	return slices.Compact(found), err
}

// atHome reports a directory below one of skillHomes.
func atHome(dir string) bool {
	return slices.ContainsFunc(skillHomes, func(home string) bool {
		return strings.Contains("/"+dir+"/", "/"+home+"/")
	})
}
