package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"

	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/term"
)

// body is text that belongs to something, such as what a command printed.
type body struct {
	Name string
	Note string // its size
	Text text
}

type stepView struct {
	First, Last bool
	Href        string
	Name        string
	Status      status
	What        string // kind and skill or action
	VM          string
	At, Took    string
	Error       string
	Kind        string // failure_kind
	Skipped     string
	Scripts     []body
	Items       []itemView
	Output      *body
	More        string
	Empty       bool
}

func (v *view) stepName(s *step) string {
	if s.id == "" {
		return "the run itself"
	}
	return line(s.id)
}

func (v *view) stepView(s *step) stepView {
	out := stepView{First: s.n == 1, Href: fmt.Sprintf("s%d", s.n), Name: v.stepName(s), Status: v.status(s), Skipped: line(s.skipped)}
	if e := s.start; e != nil {
		out.What = line(e.String("kind"))
		for _, key := range []string{"skill", "action"} {
			if name := e.String(key); name != "" {
				out.What += " " + line(name)
			}
		}
		if e.Data["vm"] == true {
			out.VM = "in the VM"
		}
		out.At, out.Took = since(v.p.first.Time, e.Time), lasted(*e, s.end)
	}
	if e := s.end; e != nil {
		out.Error, out.Kind = line(e.String("error")), line(e.String("failure_kind"))
		if v.interrupted() && out.Error == "interrupted" {
			out.Kind = "" // its code was not at fault
		}
	}
	out.Scripts = v.scripts(s)
	for _, it := range s.items {
		out.Items = append(out.Items, v.item(it))
	}
	if s.end != nil {
		if c := claimOf(s.end.Data["output"]); c.bytes > 0 {
			b := v.object("Output of the step", c)
			out.Output = &b
		}
	}
	if s.more > 0 {
		out.More = fmt.Sprintf("%d more not shown", s.more)
		if s.moreBad > 0 {
			out.More += fmt.Sprintf(", of which %d failed or were refused", s.moreBad)
		}
		if s.id != "" {
			out.More += fmt.Sprintf(": joy ledger show %s --step %s", line(v.rec.Verdict.Run), line(s.id))
		} else {
			out.More += ": joy ledger show " + line(v.rec.Verdict.Run)
		}
	}
	out.Empty = len(out.Items) == 0 && out.Skipped == ""
	return out
}

// scripts are the files that the step started, as the plan pins them.
func (v *view) scripts(s *step) []body {
	p := v.rec.Plan
	if p == nil || p.Digest != v.rec.Verdict.PlanDigest || s.start == nil {
		return nil
	}
	if s.id == "setup" && p.Setup != nil {
		return []body{v.script(p.Setup.Run.Path, p.Setup.Run)}
	}
	ps, ok := p.Step(s.id)
	if !ok || ps.Entry == nil {
		return nil
	}
	skill, _ := p.Skill(ps.Skill)
	for _, f := range skill.Files {
		if f.Path == ps.Entry.Path {
			return []body{v.script(skill.Path+"/"+f.Path, f)}
		}
	}
	return nil
}

func (v *view) script(name string, f plan.File) body {
	c := claim{bytes: f.Size, sha256: "sha256:" + f.SHA256}
	return body{"Script " + line(name), term.Size(f.Size), v.room.show(c, maxScript, 0, v.opener(c.sha256))}
}

// object shows a value that is kept by its digest.
func (v *view) object(name string, c claim) body {
	b := body{Name: name, Note: term.Size(c.bytes)}
	k := &endsOf{heads: maxBody}
	if b.Text.Problem = v.room.load(k, c, v.opener(c.sha256)); b.Text.Problem != "" {
		return b
	}
	t := k.text()
	if t.Left == "" {
		t.Head = indented(t.Head)
	}
	b.Text = v.room.fit(t)
	return b
}

// talk shows what a request to a model or its answer says, by read. A body that it makes nothing of is shown as it is.
func (v *view) talk(name string, c claim, read func([]byte) string) body {
	whole := &endsOf{heads: maxTalk}
	b := body{Name: name, Note: term.Size(c.bytes)}
	if b.Text.Problem = v.room.load(whole, c, v.opener(c.sha256)); b.Text.Problem != "" {
		return b
	}
	said := read(whole.head)
	if said == "" {
		return v.object(name, c)
	}
	shown := &endsOf{heads: maxBody / 2, tails: maxBody / 2}
	_, _ = shown.Write([]byte(said)) // it cannot fail
	b.Note += ", as text"
	b.Text = v.room.fit(shown.text())
	return b
}

// maxIndented is how deep JSON nests that is indented: deeper, the spaces alone would be megabytes.
const maxIndented = 32

// indented is JSON over several lines, and anything else as it is.
func indented(s string) string {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxIndented {
			return s
		}
	}
	var nice bytes.Buffer
	if json.Indent(&nice, []byte(s), "", "  ") != nil {
		return s
	}
	return nice.String()
}

func (v *view) opener(digest string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		if v.rec.Object == nil {
			return nil, fs.ErrNotExist
		}
		return v.rec.Object(digest)
	}
}
