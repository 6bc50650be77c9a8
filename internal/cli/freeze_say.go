package cli

import (
	"fmt"
	"path"
	"strings"

	"github.com/joystream-ai/joy/internal/freeze"
	"github.com/joystream-ai/joy/internal/term"
)

// yamlLines are what joy.yaml has to say to use the bundle in the place of the model.
func (f *frozenStep) yamlLines(dir, name string) []string {
	step := []string{"id: " + f.step.ID, "skill: " + name}
	if len(f.step.Needs) > 0 {
		step = append(step, "needs: ["+strings.Join(f.step.Needs, ", ")+"]")
	}
	if with := string(f.step.With); with != "{}" && with != "" {
		step = append(step, "with: "+yamlSafe(with))
	}
	if len(f.step.Tools) > 0 {
		tools := make([]string, len(f.step.Tools))
		for i, g := range f.step.Tools {
			tools[i] = "{action: " + g.Action
			if with := string(g.With); with != "{}" && with != "" {
				tools[i] += ", with: " + yamlSafe(with)
			}
			if g.MaxCalls > 0 {
				tools[i] += fmt.Sprintf(", max_calls: %d", g.MaxCalls)
			}
			tools[i] += "}"
		}
		step = append(step, "tools: ["+strings.Join(tools, ", ")+"]")
	}
	return []string{"skills: [" + dir + "]", "steps:", "  - {" + strings.Join(step, ", ") + "}"}
}

type frozenJSON struct {
	Schema  string          `json:"schema"`
	Run     string          `json:"run"`
	Step    string          `json:"step"`
	Bundle  string          `json:"bundle"`
	Files   []string        `json:"files"`
	Kept    int             `json:"kept"`
	LeftOut int             `json:"left_out"`
	Answer  string          `json:"answer"` // printed | recorded
	Reviews []freeze.Review `json:"reviews"`
	JoyYAML []string        `json:"joy_yaml"`
}

// writeFrozen puts the bundle down and says what to do with it.
func (a *app) writeFrozen(f *frozenStep, dir string, files []scaffoldFile, made freeze.Made, force bool) error {
	if err := a.putScaffold(dir, files, force); err != nil {
		return err
	}
	doc := frozenJSON{
		Schema: "joy.freeze/1", Run: f.run.ID, Step: f.step.ID, Bundle: dir, Kept: made.Kept, LeftOut: made.Left, Answer: made.Answer,
		Reviews: notNil(made.Reviews), JoyYAML: f.yamlLines(dir, path.Base(dir)),
	}
	entry := ""
	for _, file := range files {
		doc.Files = append(doc.Files, path.Join(dir, file.path))
		if strings.HasPrefix(file.path, "scripts/") && file.mode == 0o755 && len(file.data) == len(made.Script) {
			entry = path.Join(dir, file.path)
		}
	}
	if a.json {
		return a.printJSON(doc)
	}
	for _, name := range doc.Files {
		if err := a.out.Printf("%s", name); err != nil {
			return err
		}
	}
	a.say("%s of run %s: %s in the script, %d left in it as comments", f.step.ID, f.run.ID, count(made.Kept, "part"), made.Left)
	if made.Answer == "printed" {
		a.say("the result is what the script prints, as it was in the run")
	}
	for _, r := range made.Reviews {
		a.warn("review %s:%d: %s", entry, r.Line, term.Line(r.Text))
	}
	a.say("to use it, joy.yaml says, in place of the step that asks the model:")
	for _, line := range doc.JoyYAML {
		a.say("  %s", term.Line(line))
	}
	a.tell("next: %s", a.err.bold.Render("read "+entry+", change joy.yaml, joy build"))
	return nil
}
