package cli

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/trust"
)

// specText is a joy.yaml while it is edited: lines are put in or taken out, and what comes of it is taken only when it
// means the same in everything else.
type specText struct {
	path string
	mode os.FileMode
	data []byte
	spec *agent.Spec
}

func (a *app) openSpec() (*specText, error) {
	path := filepath.Join(a.dir, trust.SpecName)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "open joy.yaml").WithHint("joy init DIR scaffolds an agent")
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Input, "it is not an ordinary file").At(trust.SpecName, 0, 0)
	}
	t := &specText{path: path, mode: info.Mode().Perm()}
	if t.data, err = ordinary.Read(path, agent.MaxBytes); err != nil {
		return nil, fault.Wrap(fault.Input, err, "read joy.yaml")
	}
	t.spec, err = agent.Parse(t.data, trust.SpecName)
	return t, err
}

// connections is the value of the key of that name and the key, or nil.
func (t *specText) connections() (key, value *yaml.Node) {
	var doc yaml.Node
	if yaml.Unmarshal(t.data, &doc) != nil || len(doc.Content) == 0 { // Parse has read it
		return nil, nil
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "connections" {
			return root.Content[i], root.Content[i+1]
		}
	}
	return nil, nil
}

// add is the text with one more connection, written as entry: "name: {…}".
func (t *specText) add(entry string) string {
	end := "\n"
	if first, _, _ := strings.Cut(string(t.data), "\n"); strings.HasSuffix(first, "\r") {
		end = "\r\n"
	}
	key, value := t.connections()
	lines := strings.SplitAfter(string(t.data), "\n")
	switch {
	case key == nil:
		text := string(t.data)
		if !strings.HasSuffix(text, "\n") {
			text += end
		}
		return text + "connections:" + end + "  " + entry + end
	case value.Style&yaml.FlowStyle != 0:
		line := []rune(lines[value.Line-1])
		if len(value.Content) > 0 {
			entry += ", "
		}
		lines[value.Line-1] = string(line[:value.Column]) + entry + string(line[value.Column:]) // behind the brace
		return strings.Join(lines, "")
	}
	// Right below the key, and so before what a comment above the first entry belongs to.
	return strings.Join(slices.Insert(lines, key.Line, strings.Repeat(" ", value.Column-1)+entry+end), "")
}

// without offers texts in which a connection's lines are gone, with ever more lines after it: where a value ends is found
// by what the text then means.
func (t *specText) without(name string) []string {
	key, value := t.connections()
	if key == nil {
		return nil
	}
	at := key
	if len(value.Content) > 2 {
		if value.Style&yaml.FlowStyle != 0 {
			return nil
		}
		i := slices.IndexFunc(value.Content, func(n *yaml.Node) bool { return n.Value == name && n.Line > 0 })
		if i < 0 {
			return nil
		}
		at, value = value.Content[i], value.Content[i+1]
	}
	lines := strings.SplitAfter(string(t.data), "\n")
	from := at.Line - 1
	for at.HeadComment != "" && from > 0 && strings.HasPrefix(strings.TrimSpace(lines[from-1]), "#") {
		from--
	}
	var out []string
	const most = 20 // lines after the last that the parser knows of
	for to := lastLine(value); to <= len(lines) && to <= lastLine(value)+most; to++ {
		out = append(out, strings.Join(slices.Concat(lines[:from], lines[to:]), ""))
	}
	return out
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

var errEdit = errors.New("joy.yaml is written in a way that joy does not edit")

// write takes the first of texts that means the old one with other connections, and nothing else.
func (t *specText) write(texts []string, want map[string]agent.Connection) error {
	for _, text := range texts {
		spec, err := agent.Parse([]byte(text), trust.SpecName)
		if err != nil || !reflect.DeepEqual(withoutPlaces(spec.Connections), withoutPlaces(want)) || !t.sameElse([]byte(text)) {
			continue
		}
		return t.replace([]byte(text))
	}
	return errEdit
}

func withoutPlaces(in map[string]agent.Connection) map[string]agent.Connection {
	out := map[string]agent.Connection{}
	for name, c := range in {
		c.Pos = agent.Pos{}
		out[name] = c
	}
	return out
}

// sameElse holds that the text says what it said before of everything but connections.
func (t *specText) sameElse(text []byte) bool {
	var before, after map[string]any
	if yaml.Unmarshal(t.data, &before) != nil || yaml.Unmarshal(text, &after) != nil {
		return false
	}
	delete(before, "connections")
	delete(after, "connections")
	return reflect.DeepEqual(before, after)
}

func (t *specText) replace(data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(t.path), ".joy-yaml-*")
	if err != nil {
		return fault.Wrap(fault.Input, err, "write joy.yaml")
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(t.mode), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), t.path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
		return fault.Wrap(fault.Input, err, "write joy.yaml")
	}
	return nil
}
