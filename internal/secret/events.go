package secret

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// RedactEvents redacts a stream of server-sent events with JSON as their data, as a model provider sends an answer
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). A value may lie in it in pieces, some
// letters in each event. So what is judged are the strings that a reader puts together: those that stand at one place of their
// events, one after the other, and, where such a text is JSON itself, as the arguments of a call, each string in it. Who joins the
// pieces of the outcome finds the marker, in the piece where the value began. Everything else is redacted as by Redact; the text
// of an event that is not touched keeps its bytes. Hits have no place, since a joined text has none in the stream.
func (s *Set) RedactEvents(body []byte) ([]byte, []Hit) {
	pieces := piecesOf(body)
	if pieces == nil && bytes.Count(body, []byte(`"`)) > 2*maxPieces { // it could not be looked through
		return []byte(marker(tooMany)), []Hit{{Name: tooMany, Form: Rule}}
	}
	var hits []Hit
	blocks := grouped(pieces, (*part).strict)
	for _, b := range blocks {
		hits = append(hits, s.redactJoined(b)...)
	}
	for _, g := range grouped(pieces, (*part).loose) {
		if !slices.ContainsFunc(blocks, func(b []*part) bool { return b[0] == g[0] && (len(b) == len(g) || isJSON(joined(b))) }) {
			hits = append(hits, s.redactJoined(g)...)
		}
	}
	clean, more := s.Settle(rewritten(body, pieces))
	hits = append(hits, more...)
	for i := range hits {
		hits[i].Offset = 0
	}
	return clean, hits
}

// maxPieces bounds the strings of a stream that are put together: some five times what the longest answer of a model has. A stream
// with more is withheld, under the name tooMany.
const (
	maxPieces = 1 << 19
	tooMany   = "too-many-pieces"
)

// RedactJSON redacts a JSON text, and each string in it as what it says: a rule may know a text by what JSON spells otherwise, such as
// quotes. It is settled, and JSON if b was. What was found in a string has the string's place.
func (s *Set) RedactJSON(b []byte) ([]byte, []Hit) {
	whole := []*part{{text: string(b)}}
	hits := s.redactJoined(whole)
	if len(hits) == 0 {
		return b, nil
	}
	return []byte(whole[0].text), hits
}

// Settle is Redact again and again until nothing is found. A rule tells of two findings with one beginning only the longer, so the
// other may be left by Redact: what is to be redacted again later, and must be the same then, is settled. Hits of later rounds are
// at their places in what the round before has left.
func (s *Set) Settle(b []byte) ([]byte, []Hit) {
	clean, hits := s.Redact(b)
	for more, n := hits, 0; len(more) > 0 && n < rounds; n++ {
		clean, more = s.Redact(clean)
		hits = append(hits, more...)
	}
	return clean, hits
}

// rounds bounds what is done again.
const rounds = 8

// grouped are the parts that stand at one place, by their first.
func grouped(pieces []*part, place func(*part) string) (groups [][]*part) {
	at := map[string]int{}
	for _, p := range pieces {
		key := place(p)
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

// isJSON says whether a text is an object or a list, or several, of which the last may break off: arguments, which are read call by
// call.
func isJSON(text string) bool {
	_, whole := literals([]byte(text))
	return whole && strings.ContainsAny(text, "{[")
}

// redactJoined redacts the text that the parts are together, until nothing is found.
func (s *Set) redactJoined(group []*part) (hits []Hit) {
	for range rounds {
		found := s.redactStrings(group)
		text := joined(group)
		clean, more := s.Redact([]byte(text))
		if len(more) > 0 {
			edits := editsOf(text, string(clean), more)
			if json.Valid([]byte(text)) && !json.Valid(clean) { // a marker in the place of more than a string's characters
				edits = []edit{{0, len(text), `"` + marker(more[0].Name) + `"`}}
			}
			replace(group, edits)
		}
		if found = append(found, more...); len(found) == 0 {
			break
		}
		hits = append(hits, found...)
	}
	return hits
}

// redactStrings redacts each string of a text that is JSON.
func (s *Set) redactStrings(group []*part) (hits []Hit) {
	inner, whole := literals([]byte(joined(group)))
	if !whole {
		return nil
	}
	var edits []edit
	for _, l := range inner {
		clean, found := s.Settle([]byte(l.text))
		for i := range found {
			found[i].Offset = int64(l.start)
		}
		if len(found) > 0 {
			hits = append(hits, found...)
			edits = append(edits, edit{l.start, l.end, l.literal(string(clean))})
		}
	}
	replace(group, edits)
	return hits
}

func joined(group []*part) string {
	var b strings.Builder
	for _, p := range group {
		b.WriteString(p.text)
	}
	return b.String()
}

func marker(name string) string { return "[REDACTED:" + name + "]" }

// edit is a run of a text and what comes in its place.
type edit struct {
	from, to int
	with     string
}

// editsOf is what leads from a text to the same redacted, each finding by itself; where findings lie so that this cannot be told, it
// is one edit from the first to the last.
func editsOf(text, clean string, hits []Hit) []edit {
	var edits []edit
	var names []string // in the last edit
	for _, h := range hits {
		from, to := int(h.Offset), int(h.Offset)+h.Len
		last := len(edits) - 1
		if last < 0 || from >= edits[last].to {
			edits, names = append(edits, edit{from, to, marker(h.Name)}), []string{h.Name}
			continue
		}
		edits[last].to = max(edits[last].to, to)
		if !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
			edits[last].with += marker(h.Name)
		}
	}
	var b strings.Builder
	plain := 0
	for _, e := range edits {
		b.WriteString(text[plain:min(e.from, len(text))] + e.with)
		plain = min(e.to, len(text))
	}
	if b.String()+text[plain:] == clean {
		return edits
	}
	head := 0
	for head < min(len(text), len(clean)) && text[head] == clean[head] {
		head++
	}
	foot := 0
	for foot < min(len(text), len(clean))-head && text[len(text)-1-foot] == clean[len(clean)-1-foot] {
		foot++
	}
	return []edit{{head, len(text) - foot, clean[head : len(clean)-foot]}}
}

// replace does the edits, which are in order and apart, on the text that the parts are together. What comes in the place of a run
// goes into the part where it begins.
func replace(group []*part, edits []edit) {
	at := 0
	for _, p := range group {
		end := at + len(p.text)
		var b strings.Builder
		plain := at
		for len(edits) > 0 && edits[0].from < end {
			e := edits[0]
			if e.from >= at {
				b.WriteString(p.text[plain-at : e.from-at])
				b.WriteString(e.with)
			}
			plain = max(plain, min(e.to, end))
			if e.to > end {
				break // the next part has more of it
			}
			edits = edits[1:]
		}
		if plain > at || b.Len() > 0 {
			b.WriteString(p.text[plain-at:])
			p.text, p.changed = b.String(), true
		}
		at = end
	}
}

// rewritten is the body with the parts that were changed.
func rewritten(body []byte, pieces []*part) []byte {
	var out bytes.Buffer
	plain := 0
	for _, p := range pieces {
		if p.changed {
			out.Write(body[plain:p.start])
			out.WriteString(p.literal(p.text))
			plain = p.end
		}
	}
	if plain == 0 {
		return body
	}
	out.Write(body[plain:])
	return out.Bytes()
}
