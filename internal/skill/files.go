package skill

import (
	"io"
	"io/fs"
	"path"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// readSkillFile finds SKILL.md and reads it, once; later spellings are taken only where the earlier are absent.
func (b *Bundle) readSkillFile(fsys fs.FS) ([]byte, error) {
	entries, err := ordinary.ReadDir(fsys, b.Dir)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read a skill").At(b.Dir, 0, 0).
			WithHint("name the directory that holds SKILL.md")
	}
	for _, name := range []string{"SKILL.md", "skill.md", "Skill.md"} {
		for _, e := range entries {
			if e.Name() != name {
				continue
			}
			b.SkillFile = name
			if e.Type().IsRegular() {
				return b.readLimited(fsys)
			}
			return nil, fail(RuleSkillFile, b.skillPath(), place{}, "put a file in its place",
				"%s is not a regular file", name)
		}
	}
	return nil, fail(RuleSkillFile, b.Dir, place{}, "joy skill new NAME makes one", "there is no SKILL.md")
}

func (b *Bundle) readLimited(fsys fs.FS) ([]byte, error) {
	f, err := fsys.Open(b.skillPath())
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read a skill").At(b.skillPath(), 0, 0)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxSkillFile+1))
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read a skill").At(b.skillPath(), 0, 0)
	}
	if len(raw) > MaxSkillFile {
		return nil, fail(digest.RuleLimit, b.skillPath(), place{}, "move reference text into files beside it",
			"the file is larger than %d bytes", MaxSkillFile)
	}
	return raw, nil
}

// readFiles pins every file of the bundle. raw is SKILL.md, which was read already.
func (b *Bundle) readFiles(fsys fs.FS, raw []byte, d declaration, read digest.Options, r *report) error {
	read.Held = map[string][]byte{b.SkillFile: raw}
	read.Raw = d.raw
	listing, err := digest.Walk(fsys, b.Dir, read, func(c digest.Content) error {
		b.Contents[c.File.Path] = c.Data
		return nil
	})
	if err != nil {
		return err
	}
	b.Files, b.Digest = listing.Files, listing.Digest()
	for _, p := range listing.Converted {
		r.note(RuleLineEnds, path.Join(b.Dir, p), "every line ends in CRLF: the file is taken with LF (metadata joy.raw exempts it)")
	}
	for _, p := range listing.Nested {
		r.note(RuleNested, path.Join(b.Dir, p), "the directory is a skill of its own and is not part of this one")
	}
	return nil
}
