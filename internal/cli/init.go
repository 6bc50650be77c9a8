package cli

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
)

//go:embed all:scaffold
var scaffold embed.FS

//go:embed workflow/github.yml
var githubWorkflow []byte

// scaffoldFile is one file of a new agent.
type scaffoldFile struct {
	path string // relative, forward slashes
	data []byte
	mode fs.FileMode
}

func newInitCmd(a *app) *cobra.Command {
	var force bool
	var ci, from string
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Scaffold an agent that builds and runs at once",
		Args:  argsBetween(0, 1, "one directory"),
		Example: "  joy init hello\n" +
			"  joy init --ci github\n" +
			"  joy init agent --from-skill ~/.claude/skills/pdf",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			files, err := embedded(scaffold, "scaffold")
			next := "joy build && joy run --input name=World"
			if from != "" {
				files, next, err = a.agentAround(from)
			}
			if err != nil {
				return err
			}
			if dir != "." {
				next = "cd " + dir + " && " + next
			}
			switch ci {
			case "":
			case "github":
				files = append(files, scaffoldFile{".github/workflows/joy.yml", githubWorkflow, 0o644})
			default:
				return usagef(cmd, "no workflow for --ci %q: want github", ci)
			}
			return a.scaffold(dir, files, force, next)
		},
	}
	cmd.Flags().StringVar(&from, "from-skill", "", "make an agent around a copy of the bundle in `DIR`")
	cmd.Flags().StringVar(&ci, "ci", "", "also write a workflow for `SERVICE`: github")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that are in the way")
	return cmd
}

// scaffold writes files below dir, all or none of them: what is in the way is listed first. next is the command to say.
func (a *app) scaffold(dir string, files []scaffoldFile, force bool, next string) error {
	if err := a.putScaffold(dir, files, force); err != nil {
		return err
	}
	return a.saidInit(dir, files, next)
}

func (a *app) putScaffold(dir string, files []scaffoldFile, force bool) error {
	root := a.abs(dir)
	var conflicts []error
	for _, f := range files {
		if err := inTheWay(root, dir, f.path, force); err != nil {
			conflicts = append(conflicts, err)
		}
	}
	if len(conflicts) > 0 {
		return errors.Join(conflicts...)
	}
	for _, f := range files {
		target := filepath.Join(root, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fault.Wrap(fault.Input, err, "make a directory")
		}
		if err := writeFile(target, f.data, f.mode); err != nil {
			return fault.Wrap(fault.Input, err, "write %s", f.path)
		}
	}
	return nil
}

// inTheWay says why path cannot be written below root. With force only a file that is no ordinary file is refused:
// writing through a link would change something outside the agent, also where it leads to a directory.
func inTheWay(root, dir, name string, force bool) error {
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(above)))
		if err == nil && !info.IsDir() {
			return fault.New(fault.Input, "in the way and not a directory").At(path.Join(filepath.ToSlash(dir), above), 0, 0)
		}
	}
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	shown := path.Join(filepath.ToSlash(dir), name)
	switch {
	case err != nil:
		return fault.Wrap(fault.Input, err, "look at the file").At(shown, 0, 0)
	case !info.Mode().IsRegular():
		return fault.New(fault.Input, "in the way and not an ordinary file").At(shown, 0, 0)
	case !force:
		return fault.New(fault.Input, "exists already").At(shown, 0, 0).WithHint("add --force to overwrite it")
	}
	return nil
}

// writeFile sets the mode even where the file existed.
func writeFile(name string, data []byte, mode fs.FileMode) error {
	if err := os.WriteFile(name, data, mode); err != nil {
		return err
	}
	return os.Chmod(name, mode)
}

func (a *app) saidInit(dir string, files []scaffoldFile, next string) error {
	if a.json {
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.path
		}
		return a.printJSON(map[string]any{"schema": "joy.init/1", "dir": filepath.ToSlash(dir), "files": paths})
	}
	for _, f := range files {
		if err := a.out.Printf("%s", path.Join(filepath.ToSlash(dir), f.path)); err != nil {
			return err
		}
	}
	a.say("next: %s", a.err.bold.Render(next))
	return nil
}
