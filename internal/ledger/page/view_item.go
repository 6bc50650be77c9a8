package page

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

type itemView struct {
	ID      string
	Kind    string // for the filter
	Label   string
	Level   string
	At, UTC string
	Title   string
	Code    bool     // the title is a command
	Ends    []string // how it ended, in a few words
	Fields  []fact
	Bodies  []body
	Open    bool
}

// sorts are the kinds that the page filters by, and what an entry is called.
var sorts = map[string]struct{ kind, label string }{
	"command.started":    {"command", "Command"},
	"tool.requested":     {"call", "Call"},
	"tool.denied":        {"call", "Call denied"},
	"tool.drifted":       {"call", "Tool drifted"},
	"model.requested":    {"call", "Model"},
	"file.read":          {"file", "File read"},
	"file.written":       {"file", "File written"},
	"approval.requested": {"approval", "Approval"},
	"egress.allowed":     {"network", "Connection"},
	"egress.denied":      {"network", "Network denied"},
	"scrub.found":        {"note", "Secret replaced"},
	"ledger.recovered":   {"note", "Torn line cut off"},
}

// trouble is what an item is called where only what went wrong is listed.
func (v *view) trouble(it *item) string {
	label := v.label(it)
	switch {
	case it.level() == unknown:
		return label + " without end"
	case it.end == nil:
		return label
	case it.end.Type == "approval.denied":
		return label + " denied"
	}
	return label + " failed"
}

func (v *view) label(it *item) string { return cmp.Or(sorts[it.start.Type].label, it.start.Type) }

// title is what an item is about, on one line.
func (v *view) title(it *item) string {
	e := it.start
	switch e.Type {
	case "command.started":
		first, _, more := strings.Cut(strings.TrimSpace(e.String("command")), "\n")
		if more {
			first = short(first, maxName-2) + " …"
		}
		return line(first)
	case "egress.allowed":
		port, _ := e.Int("port")
		return fmt.Sprintf("%s:%d", line(e.String("host")), port)
	case "egress.denied":
		host := e.String("host")
		if port, ok := e.Int("port"); ok && host != "" {
			host = fmt.Sprintf("%s:%d", clip(host), port)
		}
		return line(strings.Join(append([]string{cmp.Or(host, e.String("to"))}, words(e, "method", "path")...), " "))
	case "approval.requested":
		return line(strings.Join(words(e, "action", "destination"), " → "))
	case "scrub.found":
		return line(e.String("secret") + " in " + e.String("in"))
	case "model.requested":
		turn, _ := e.Int("turn")
		return fmt.Sprintf("%s, turn %d", line(strings.Join(words(e, "provider", "model"), " ")), turn)
	}
	return line(cmp.Or(e.String("action"), e.String("path"), e.String("reason")))
}

// words are those of the named members that are there.
func words(e verify.Entry, names ...string) (list []string) {
	for _, name := range names {
		if s := e.String(name); s != "" {
			list = append(list, s)
		}
	}
	return list
}

func (v *view) item(it *item) itemView {
	e := it.start
	out := itemView{
		ID: fmt.Sprintf("e%d", e.Seq), Kind: cmp.Or(sorts[e.Type].kind, "note"), Label: v.label(it), Level: it.level(),
		At: since(v.p.first.Time, e.Time), UTC: e.Time.UTC().Format("2006-01-02 15:04:05.000 UTC"), Title: v.title(it),
		Code: e.Type == "command.started",
	}
	out.Open = out.Level == failed || out.Level == unknown
	out.Ends = v.ends(it)
	out.Fields = append(fields(e, it.end), fact{Name: "entry", Value: entries(it), Code: true})
	if out.Code {
		v.command(it, &out)
		return out
	}
	ends := map[string]any{}
	if it.end != nil {
		ends = it.end.Data
	}
	for _, b := range []struct {
		name string
		v    any
		read func([]byte) string // its text; nil: it is shown as it is
	}{
		{"Arguments", e.Data["arguments"], nil},
		{"Request", e.Data["request"], account.Asked},
		{"Result", ends["result"], nil},
		{"Response", ends["response"], account.Told},
	} {
		c := claimOf(b.v)
		switch {
		case c.bytes == 0:
		case b.read == nil:
			out.Bodies = append(out.Bodies, v.object(b.name, c))
		default:
			out.Bodies = append(out.Bodies, v.talk(b.name, c, b.read))
		}
	}
	return out
}

func entries(it *item) string {
	if it.end == nil {
		return fmt.Sprint(it.start.Seq)
	}
	return fmt.Sprintf("%d, %d", it.start.Seq, it.end.Seq)
}

// ends says how an item ended, for its line.
func (v *view) ends(it *item) (list []string) {
	if it.end == nil {
		if begins[it.start.Type] {
			return []string{"no end on record"}
		}
		if why := line(it.start.String("reason")); why != "" && why != v.title(it) {
			list = append(list, short(why, 80))
		}
		return list
	}
	e := *it.end
	switch e.Type {
	case "command.finished":
		if code, ok := e.Int("exit"); ok {
			list = append(list, fmt.Sprintf("exit %d", code))
		} else {
			list = append(list, strings.TrimSpace("ended by "+line(e.String("ended_by"))))
		}
		list = append(list, linesOf(words(e, "signal", "reason"))...)
	case "tool.returned":
		if e.Data["failed"] == true || e.String("error") != "" {
			list = append(list, "failed")
		}
	case "model.replied":
		if word := turned(e); word != "" {
			list = append(list, word)
		}
	case "approval.granted":
		list = append(list, "granted by "+short(line(e.String("by")), 60))
	case "approval.denied":
		list = append(list, "denied")
	case "egress.closed":
		up, _ := e.Int("up")
		down, _ := e.Int("down")
		list = append(list, "↑ "+term.Size(up)+"  ↓ "+term.Size(down))
	}
	return append(list, lasted(it.start, it.end))
}

// turned is what a model did in a turn.
func turned(e verify.Entry) string {
	calls, _ := e.Int("calls")
	switch stop := e.String("stop"); {
	case e.String("error") != "":
		return "failed"
	case stop == "tools" && calls == 1:
		if names, _ := e.Data["asked"].([]any); len(names) == 1 {
			if name, ok := names[0].(string); ok {
				return "asks for " + short(line(name), 40)
			}
		}
		return "asks for a tool"
	case stop == "tools":
		return fmt.Sprintf("asks for %d tools", calls)
	default:
		return map[string]string{"end": "answers", "length": "is cut off", "refusal": "declines"}[stop]
	}
}

func linesOf(list []string) []string {
	for i := range list {
		list[i] = line(list[i])
	}
	return list
}

// hushed are members that are shown elsewhere in an item, or say nothing to a reader.
var hushed = []string{"of", "ms", "command", "stdout", "stderr", "input", "arguments", "result", "request", "response", "exit", "failed", "up", "down"}

// fields are the other members of both entries.
func fields(start verify.Entry, end *verify.Entry) (list []fact) {
	add := func(data map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(data)) {
			if slices.Contains(hushed, key) || len(list) == maxListed {
				continue
			}
			f := fact{Name: line(key), Value: valueText(key, data[key])}
			if f.Code = strings.HasPrefix(f.Value, "sha256:"); f.Code {
				f.Value = short(f.Value, len("sha256:")+13) // the ledger has the rest
			}
			if !slices.Contains(list, f) {
				list = append(list, f)
			}
		}
	}
	add(start.Data)
	if end != nil {
		add(end.Data)
	}
	return list
}

// command adds what a command was, what it was given and what it printed.
func (v *view) command(it *item, out *itemView) {
	cmd := it.start.String("command")
	out.Fields = slices.DeleteFunc(out.Fields, func(f fact) bool { return f.Name == "bytes" })
	if strings.TrimSpace(cmd) != out.Title {
		b := body{Name: "Command", Text: v.room.fit(text{Head: cmd})}
		whole, _ := it.start.Int("bytes")
		if rest := whole - int64(len(cmd)); rest > 0 && utf8.ValidString(cmd) && b.Text.Problem == "" {
			b.Text.Left = term.Size(rest) + " not shown"
		}
		out.Bodies = append(out.Bodies, b)
	}
	if in := claimOf(it.start.Data["input"]); in.bytes > 0 {
		out.Bodies = append(out.Bodies, v.object("Input", in))
	}
	if it.end == nil {
		return
	}
	streams := []string{"stdout", "stderr"}
	if out.Level == failed { // what it complained of is looked for first
		slices.Reverse(streams)
	}
	for _, stream := range streams {
		c := claimOf(it.end.Data[stream])
		if c.bytes == 0 {
			continue
		}
		open := func() (io.ReadCloser, error) {
			if v.rec.Output == nil {
				return nil, fs.ErrNotExist
			}
			return v.rec.Output(it.step.id, it.nth, stream)
		}
		out.Bodies = append(out.Bodies, body{stream, term.Size(c.bytes), v.room.show(c, maxOutputHead, maxOutputTail, open)})
	}
}
