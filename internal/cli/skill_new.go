package cli

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/build"
)

//go:embed bundle
var bundles embed.FS

// skillName is what both the Agent Skills spec and an id of joy take.
var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const maxSkillName = 64

func newSkillNewCmd(a *app) *cobra.Command {
	var script, instruction, force bool
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Scaffold a bundle that is valid and builds",
		Long: "new writes a bundle called NAME: below skills in a project that has such a directory, else here. Without a flag it\n" +
			"is an instruction for a model; with --script it has an entry point that runs in the VM.",
		Args: argsBetween(1, 1, "the name of the bundle"),
		Example: "  joy skill new summarise\n" +
			"  joy skill new count-words --script",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if !skillName.MatchString(name) || len(name) > maxSkillName {
				return usagef(cmd, "%q is not a name for a bundle: at most %d of a-z and 0-9, with single hyphens between", name, maxSkillName)
			}
			if script && instruction {
				return usagef(cmd, "--script and --instruction: a bundle is one of them")
			}
			kind := "instruction"
			if script {
				kind = "script"
			}
			return a.skillNew(name, kind, force)
		},
	}
	cmd.Flags().BoolVar(&script, "script", false, "with an entry point")
	cmd.Flags().BoolVar(&instruction, "instruction", false, "for a model (the default)")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that are in the way")
	return cmd
}

func (a *app) skillNew(name, kind string, force bool) error {
	files, err := embedded(bundles, path.Join("bundle", kind))
	if err != nil {
		return err
	}
	for i := range files {
		files[i].data = bytes.ReplaceAll(files[i].data, []byte("NAME"), []byte(name))
	}
	dir := name
	if isDir(filepath.Join(a.dir, "skills")) == nil {
		dir = path.Join("skills", name)
	}
	next := fmt.Sprintf("joy skill check %s --strict && joy build %s", dir, dir)
	if a.isFile(build.SpecName) {
		next = fmt.Sprintf("joy skill check %s --strict, and name it in joy.yaml: skills: [%s]", dir, dir)
	}
	return a.scaffold(dir, files, force, next)
}

// embedded reads files that are part of joy. Embedding keeps neither modes nor a file called .gitignore in peace (git
// would obey it), so scripts are told by their directory and the name is put back here.
func embedded(fsys embed.FS, root string) ([]scaffoldFile, error) {
	var files []scaffoldFile
	err := fs.WalkDir(fsys, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fsys.ReadFile(name)
		f := scaffoldFile{strings.TrimPrefix(name, root+"/"), data, 0o644}
		if f.path == "gitignore" {
			f.path = ".gitignore"
		}
		if path.Base(path.Dir(f.path)) == "scripts" {
			f.mode = 0o755
		}
		files = append(files, f)
		return err
	})
	return files, err
}
