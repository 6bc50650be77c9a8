package page

import (
	"fmt"
	"maps"
	"slices"

	"github.com/joystream-ai/joy/internal/term"
)

type artifactView struct {
	ID, Name, Step, Href, Label string
	Level                       string
	Size, Digest, At            string
	Reason                      string
	Picture                     *picture
	Text                        text
	IsText, Open                bool
}

// maxAtOnce is how long a text is that nobody needs to open, in bytes.
const maxAtOnce = 2 << 10

type artifactList struct {
	List []artifactView
	More string
}

var artifactLabels = map[string]string{
	"artifact.stored": "Artifact", "artifact.skipped": "Artifact not taken", "artifact.quarantined": "Artifact withheld",
}

func (v *view) artifactList() artifactList {
	var out artifactList
	for _, a := range v.p.artifacts {
		e := a.entry
		c := claimOf(e.Data)
		av := artifactView{
			ID: fmt.Sprintf("e%d", e.Seq), Name: line(e.String("name")), Step: line(e.Step), Label: artifactLabels[e.Type],
			Digest: line(c.sha256), At: since(v.p.first.Time, e.Time), Reason: line(e.String("reason")),
		}
		if c.bytes > 0 || e.Type == "artifact.stored" {
			av.Size = term.Size(c.bytes)
		}
		if a.step != nil {
			av.Href = fmt.Sprintf("#s%d", a.step.n)
		}
		switch e.Type {
		case "artifact.stored":
			av.Picture, av.Text = v.room.preview(c, v.opener(c.sha256))
			av.IsText = av.Picture == nil && av.Text.Problem == ""
			av.Open = av.IsText && av.Text.Left == "" && len(av.Text.Head) <= maxAtOnce
		case "artifact.quarantined":
			av.Level = warned
			av.Reason = fmt.Sprintf("it holds the secret %s and cannot be redacted", line(e.String("secret")))
		default:
			av.Level = warned
		}
		out.List = append(out.List, av)
	}
	if v.p.moreArts > 0 {
		out.More = fmt.Sprintf("%d more not shown: joy artifact list %s", v.p.moreArts, line(v.rec.Verdict.Run))
	}
	return out
}

type hostView struct {
	Name, Port, Answer, Class, Why, Up, Down string
	Times                                    int
}

type footView struct {
	Hosts     []hostView
	MoreHosts int
	Types     []fact
	Entries   int64
	Verdict   verdictView
	Run       string
	MoreSteps int
}

func (v *view) foot() footView {
	out := footView{
		MoreHosts: v.p.hosts.more, Entries: v.rec.Verdict.Entries, Verdict: v.verdict(), Run: line(v.rec.Verdict.Run),
		MoreSteps: len(v.p.moreSteps),
	}
	for _, h := range v.p.hosts.sorted() {
		row := hostView{Name: line(h.name), Port: h.port, Answer: "allowed", Class: "ok", Why: line(h.why), Times: h.times}
		if h.denied {
			row.Answer, row.Class = "denied", failed
		} else {
			row.Up, row.Down = term.Size(h.up), term.Size(h.down)
		}
		out.Hosts = append(out.Hosts, row)
	}
	for _, t := range slices.Sorted(maps.Keys(v.p.counts)) {
		out.Types = append(out.Types, fact{Name: t, Value: fmt.Sprint(v.p.counts[t])})
	}
	return out
}
