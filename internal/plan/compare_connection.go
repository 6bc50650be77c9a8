package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

func (c *comparison) connections(old, new map[string]Connection) {
	named(c, "connection", "connection", entries(old), entries(new), func(what string, a, b Connection) {
		named(c, what+": tool", "tool", entries(a.Tools), entries(b.Tools), c.tool, nil)
		named(c, what+": file", "connection.file", keyed(a.Files, filePath), keyed(b.Files, filePath), nil, nil)
		before := len(c.out)
		named(c, what+": secret", "connection.secret", entries(a.Secrets), entries(b.Secrets), nil, nil)
		if len(c.out) > before {
			a.Env, b.Env = nil, nil // the secrets say it already
		}
		a.Tools, b.Tools, a.Files, b.Files, a.Secrets, b.Secrets = nil, nil, nil, nil, nil, nil
		c.fields(what, "connection", a, b)
	}, nil)
}

// maxParts is how many differences of one definition are told one by one.
const maxParts = 50

// tool tells a definition that changed part by part, so that a reviewer sees what a model would be told and what may be
// sent. Each part is a pin that was replaced.
func (c *comparison) tool(what string, a, b Tool) {
	if a.Digest == b.Digest && bytes.Equal(a.Definition, b.Definition) {
		return
	}
	before := len(c.out)
	c.parts(what, a.Definition, b.Definition)
	if n := len(c.out) - before - maxParts; n > 0 {
		c.out = c.out[:before+maxParts]
		c.add(what, a.Digest, fmt.Sprintf("%s (%d more differences)", b.Digest, n), replaced(a.Digest, b.Digest))
	}
	if len(c.out) == before {
		c.value(what, "tool", a.Digest, b.Digest)
	}
}

// parts compares two JSON texts: objects key by key, whatever else as a whole.
func (c *comparison) parts(what string, a, b json.RawMessage) {
	if bytes.Equal(a, b) {
		return
	}
	var before, after map[string]json.RawMessage
	if !isObject(a) || !isObject(b) || json.Unmarshal(a, &before) != nil || json.Unmarshal(b, &after) != nil {
		was, is := around(a, b)
		c.out = append(c.out, Change{Group: c.group, What: what, Before: was, After: is, Widens: "an outside pin is replaced"})
		return
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		c.parts(what+"."+key, before[key], after[key])
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if _, there := before[key]; !there {
			c.parts(what+"."+key, nil, after[key])
		}
	}
}

// What is shown of a long part: some of what is the same, and what follows the first difference.
const (
	shownBefore = 60   // bytes
	shownAfter  = 1000 // bytes
)

// around is both texts near the first byte in which they differ, with every cut named by its size.
func around(a, b []byte) (before, after string) {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := 0
	if max(len(a), len(b)) > shownBefore+shownAfter {
		from = max(0, same-shownBefore)
	}
	return excerpt(a, from), excerpt(b, from)
}

// excerpt shows whole characters; nothing is "", which means not there.
func excerpt(text []byte, from int) string {
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(len(text), from+shownBefore+shownAfter)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	out := ""
	if from > 0 {
		out = fmt.Sprintf("(%d bytes) …", from)
	}
	out += string(text[min(from, to):to])
	if to < len(text) {
		out += fmt.Sprintf("… (%d bytes)", len(text)-to)
	}
	return out
}
