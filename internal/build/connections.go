package build

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
)

// RuleUnpinned is the rule of a command that may start another program tomorrow.
const RuleUnpinned = "JOY-UNPINNED"

// granted lists the actions that the plan's steps may call, with their places, in the order of the file.
func (b *builder) granted() (out []agent.Text) {
	for _, s := range b.spec.Steps {
		if s.Action.Value != "" {
			out = append(out, s.Action)
		}
		for _, g := range s.Tools {
			out = append(out, g.Action)
		}
	}
	return out
}

// split takes an action apart. A tool's name may hold dots; that of a connection holds none.
func split(action string) (connection, tool string) {
	connection, tool, _ = strings.Cut(action, ".")
	return connection, tool
}

// connection holds that an action's connection is declared.
func (b *builder) connection(action agent.Text) {
	name, _ := split(action.Value)
	if _, ok := b.spec.Connections[name]; !ok {
		b.fail(action.Pos, "%s: there is no connection %q", action.Value, name).Hint = agent.DidYouMean(name, slices.Sorted(maps.Keys(b.spec.Connections)))
	}
}

// connections pins, of every connection that a step is granted a tool of, what comes from the project: how it is
// started or reached, and the files of its command.
func (b *builder) connections() {
	b.plan.Connections = map[string]plan.Connection{}
	for _, action := range b.granted() {
		name, _ := split(action.Value)
		c, declared := b.spec.Connections[name]
		if _, done := b.plan.Connections[name]; done || !declared {
			continue
		}
		out := plan.Connection{
			Transport: plan.Stdio, Argv: c.Command, URL: c.URL, Unconfined: c.Unconfined,
			Env: slices.Sorted(maps.Keys(c.Env)), Secrets: maps.Clone(c.Env), Tools: map[string]plan.Tool{},
		}
		if c.URL != "" {
			out.Transport, out.Argv = plan.HTTP, nil
			if c.Bearer != "" {
				out.Secrets = map[string]string{plan.Bearer: c.Bearer}
			}
		}
		out.Files = b.filesOf(name, c)
		b.plan.Connections[name] = out
		if err := pinned(c.Command); err != nil {
			b.judge(plan.Finding{
				Rule: RuleUnpinned, Severity: skill.SeverityError, File: b.spec.File, Line: c.Line,
				Message: "connection " + name + ": " + err.Error(),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.spec.Connections)) {
		if _, used := b.plan.Connections[name]; !used {
			b.notes = append(b.notes, "connection "+name+" is declared and no step uses it; it is not in the lock")
		}
	}
}

// filesOf pins every argument that names a file of the project, also behind a =. A program that is named without a
// slash is not one: it is looked up where the system keeps its programs.
func (b *builder) filesOf(name string, c agent.Connection) []plan.File {
	pins := map[string]plan.File{}
	for i, arg := range c.Command {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		program := i == 0
		if program && !strings.Contains(arg, "/") {
			continue
		}
		p := path.Clean(arg)
		if !plan.CleanPath(p) || p == LockName || p == ".joy" || strings.HasPrefix(p, ".joy/") {
			continue // of the system, or of joy itself
		}
		info, err := fs.Stat(b.fsys, p)
		switch {
		case err == nil && info.IsDir():
			continue // what the server works on, and not what it is
		case b.linked(p): // also one that leads out of the project
			b.fail(c.Pos, "connection %s: %s is reached by a link, which cannot be pinned", name, arg).WithHint("name the file itself")
			continue
		case errors.Is(err, fs.ErrNotExist) && program:
			b.fail(c.Pos, "connection %s: there is no file %s", name, arg).WithHint("correct connections.%s.command", name)
			continue
		case err != nil || !info.Mode().IsRegular():
			continue
		}
		data, err := b.readFile(p, digest.MaxFileBytes)
		if err != nil {
			b.errs = append(b.errs, err)
			continue
		}
		// The mode is what the file is there for, since not every file system has one.
		mode := digest.ModePlain
		if program || pins[p].Mode == digest.ModeExec {
			mode = digest.ModeExec
		}
		pins[p] = plan.File(digest.Pin(p, mode, data, false).File)
	}
	return slices.SortedFunc(maps.Values(pins), func(a, b plan.File) int { return strings.Compare(a.Path, b.Path) })
}
