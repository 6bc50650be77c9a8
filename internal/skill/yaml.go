package skill

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxYAMLDepth bounds how deep front matter may nest.
const maxYAMLDepth = 64

// field is one top-level key of the front matter.
type field struct {
	key   string
	at    place
	value *yaml.Node
}

// parseFields reads the front matter as YAML. What does not parse gets one more try with the values quoted that a
// careless author left unquoted; the warning names each. There is no third try and no partial result.
func parseFields(f front, r *report) ([]field, error) {
	root, err := parseYAML(f.yaml)
	if err != nil {
		fixed, repairs := repair(f.yaml)
		first := err
		if len(repairs) > 0 {
			root, err = parseYAML(fixed)
		}
		if err != nil || len(repairs) == 0 {
			return nil, fail(RuleYAML, r.file, yamlPlace(first, f.line), "quote values that hold ': ' or '#'",
				"the front matter is not YAML: %s", yamlMessage(first))
		}
		for _, p := range repairs {
			r.violation(RuleYAML, place{p.line + f.line - 1, p.col}, "%s", p.msg)
		}
	}
	if root == nil || root.Kind != yaml.MappingNode {
		return nil, fail(RuleYAML, r.file, place{f.line, 1}, "write name: … and description: …",
			"the front matter is not a mapping of fields")
	}
	f.checkEarlyEnd(r)
	c := yamlChecker{front: f, report: r}
	c.check(root, 0)
	if len(r.errors) > 0 {
		return nil, r.err()
	}
	var fields []field
	for i := 0; i+1 < len(root.Content); i += 2 {
		k := root.Content[i]
		fields = append(fields, field{k.Value, c.place(k), root.Content[i+1]})
	}
	return fields, nil
}

// checkEarlyEnd says what is lost for readers that end the front matter at three hyphens inside a value.
func (f front) checkEarlyEnd(r *report) {
	if f.early == nil {
		return
	}
	at := place{f.line + len(f.early) - 1, 0}
	root, err := parseYAML(f.early)
	if err != nil || root == nil || root.Kind != yaml.MappingNode {
		r.violation(RuleYAML, at, "some readers end the front matter at these three hyphens, and what is left is not YAML")
		return
	}
	lost := func(key string) bool {
		for i := 0; i < len(root.Content); i += 2 {
			if root.Content[i].Value == key {
				return false
			}
		}
		return true
	}
	for _, f := range []struct{ key, rule string }{{"name", RuleName}, {"description", RuleDescription}} {
		if lost(f.key) {
			r.violation(f.rule, at, "some readers end the front matter at these three hyphens, and %s comes after them", f.key)
		}
	}
}

func parseYAML(lines []string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// yamlChecker walks what parsed for what joy refuses everywhere (keys twice, anchors, aliases) and for what the
// reference validator refuses on top (flow style, tags).
type yamlChecker struct {
	front
	report *report
	flow   bool // said once is enough
}

// place is where in SKILL.md a node stands.
func (f front) place(n *yaml.Node) place { return place{n.Line + f.line - 1, n.Column} }

func (c *yamlChecker) check(n *yaml.Node, depth int) {
	r := c.report
	switch {
	case depth > maxYAMLDepth:
		r.fail(RuleYAML, c.place(n), "", "the front matter nests more than %d levels deep", maxYAMLDepth)
		return
	case n.Anchor != "": // no alias without one
		r.fail(RuleYAML, c.place(n), "write the value out", "anchors and aliases are not allowed in front matter")
		return
	case n.Style&yaml.TaggedStyle != 0:
		r.violation(RuleYAML, c.place(n), "tag %s is not allowed", n.Tag)
	}
	if n.Style&yaml.FlowStyle != 0 && !c.flow && len(n.Content) > 0 {
		c.flow = true
		r.quiet(RuleYAML, c.place(n), "flow style ([…] or {…}) is not allowed: write one item a line")
	}
	if n.Kind == yaml.MappingNode {
		c.checkKeys(n)
	}
	for _, child := range n.Content {
		c.check(child, depth+1)
	}
}

func (c *yamlChecker) checkKeys(n *yaml.Node) {
	seen := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			c.report.fail(RuleYAML, c.place(k), "", "a key is not plain text")
			continue
		}
		if k.Tag == "!!merge" {
			c.report.violation(RuleYAML, c.place(k), "merge keys (<<) are not allowed: write the fields out")
		}
		if first, twice := seen[k.Value]; twice {
			c.report.fail(RuleYAML, c.place(k), "keep one of the two", "key %q is there twice, first on line %d",
				k.Value, c.place(first).line)
		}
		seen[k.Value] = k
	}
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// yamlPlace takes the line from the library's message, the only place where it says it.
func yamlPlace(err error, first int) place {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil || m[1] == "" {
		return place{first, 0}
	}
	n, _ := strconv.Atoi(m[1]) // the pattern saw to it
	return place{n + first - 1, 0}
}

func yamlMessage(err error) string { return yamlLine.ReplaceAllString(err.Error(), "") }

// repaired says what was changed and where; line is relative to the front matter.
type repaired struct {
	line, col int
	msg       string
}

var (
	topLevel    = regexp.MustCompile(`^([A-Za-z_][\w.-]*):[ \t]+(\S.*)$`)
	blockHeader = regexp.MustCompile(`^[|>][-+0-9]{0,2}[ \t]+([^#\s].*)$`)
)

// repair quotes top-level values that YAML takes for structure: plain text with ": " inside, and text on the line of a
// block header. Lines that continue such a value are joined to it and left empty, so that line numbers hold.
func repair(lines []string) (fixed []string, done []repaired) {
	fixed = append([]string(nil), lines...)
	for i, line := range lines {
		m := topLevel.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		key, value := line[m[2]:m[3]], strings.TrimRight(line[m[4]:], " \t")
		col := 1 + utf8.RuneCountInString(line[:m[4]])
		var msg string
		if h := blockHeader.FindStringSubmatch(value); h != nil {
			msg = "text follows the block header of " + key + ": begin the text on the next line"
			value = h[1]
		} else if breaksPlain(value) {
			msg = "the value of " + key + " holds characters that YAML reads as structure: quote this value"
		} else {
			continue
		}
		for j := i + 1; j < len(lines) && strings.TrimLeft(lines[j], " \t") != lines[j]; j++ {
			value += " " + strings.TrimSpace(lines[j])
			fixed[j] = ""
		}
		fixed[i] = key + ": " + quoteYAML(value)
		done = append(done, repaired{i + 1, col, msg})
	}
	return fixed, done
}

// closers are the characters that must end a value that begins with the key.
var closers = map[byte]byte{'"': '"', '\'': '\'', '[': ']', '{': '}'}

// breaksPlain reports a value that cannot stand without quotes, or that opens something it does not close.
func breaksPlain(v string) bool {
	if end, ok := closers[v[0]]; ok {
		return len(v) < 2 || v[len(v)-1] != end
	}
	if strings.ContainsAny(v[:1], "|>#") {
		return false
	}
	return strings.Contains(v, ": ") || strings.HasSuffix(v, ":") || strings.ContainsAny(v[:1], "@`%?,]}")
}

func quoteYAML(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(v) + `"`
}
