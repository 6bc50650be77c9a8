package rules

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Bounds of a match, in bytes.
const (
	maxMatch = 8 << 10  // of an expression that sets none
	maxLine  = 512      // of one that takes any character
	maxBlock = 16 << 10 // of one that goes over lines: a private key of 16,384 bits in PEM has 12.7 KB
)

// run is what stands before the name of an assignment in gitleaks' rules, once or twice. It is optional and no part of the
// secret; a match is looked for from the name on.
const run = `[\w.-]{0,50}?`

// maxRun is how far that reaches.
const maxRun = 50

// expression is a regular expression that is compiled when it is first used. It is safe for concurrent use.
type expression func() *regexp.Regexp

// lazily makes an expression of text that was parsed before, or comes with the module.
func lazily(text string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// rule is one shape of a credential.
type rule struct {
	id       string
	re       expression
	group    int     // of the secret; 0: the first that is not empty
	entropy  float64 // bits a byte that a secret must exceed
	keywords [][]byte
	literals []string   // lower case: where to look
	anchored bool       // a match begins with one of literals, which is not so when they are keywords
	run      bool       // an optional run of name characters before it belongs to the match
	assigned bool       // an assignment follows the literal
	over     bool       // a match may go over lines
	most     int        // bytes of a match, from its literal on, or around it
	command  expression // what must stand before it; nil: nothing must
	allowed  []allowlist
}

func readRule(t ruleText) (*rule, error) {
	r := &rule{id: t.ID, group: t.SecretGroup, entropy: t.Entropy, over: strings.Contains(t.Regex, `[\s\S`)}
	for _, k := range t.Keywords {
		r.keywords = append(r.keywords, bytes.ToLower([]byte(k)))
	}
	text := t.Regex
	for before, after := range map[string]string{"(?i)" + run: "(?i)", run + "(?i:" + run: "(?i:"} {
		if rest, cut := strings.CutPrefix(text, before); cut {
			text, r.run = after+rest, true
		}
	}
	text = r.cutGap(text)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.ID, err)
	}
	r.assigned = r.run && strings.Contains(text, assignment)
	limit := maxMatch
	if r.over {
		limit = maxBlock
	} else if strings.Contains(t.Regex, ".*") {
		limit = maxLine
	}
	r.most = longest(tree, limit)
	r.literals, _ = prefixes(tree)
	r.anchored = !slices.ContainsFunc(r.literals, func(l string) bool { return len(l) < minPrefix })
	if r.anchored {
		text = `\A(?s:.)(?:` + text + ")" // after one byte, by which \b is judged
	} else {
		r.literals = nil
		for _, k := range r.keywords {
			r.literals = append(r.literals, string(k))
		}
	}
	r.re = lazily(text)
	for _, a := range t.Allowlists {
		if list, ok := readAllowlist(a); ok {
			r.allowed = append(r.allowed, list)
		}
	}
	return r, nil
}

// judge takes a match for a finding, or not, as gitleaks does. match is the whole of it, line what is known of its line.
func (s *Set) judge(r *rule, secret, match, line []byte) bool {
	low := bytes.ToLower(match)
	named := slices.ContainsFunc(r.keywords, func(k []byte) bool { return bytes.Contains(low, k) })
	if !named || r.entropy > 0 && entropy(secret) <= r.entropy || r.noise(secret, match) {
		return false
	}
	text := [3]string{string(secret), string(match), string(line)}
	return !slices.ContainsFunc(slices.Concat(s.allowed, r.allowed), func(a allowlist) bool { return a.holds(text[0], text[1], text[2]) })
}

// entropy is Shannon's, in bits a byte.
func entropy(b []byte) (bits float64) {
	var count [256]int
	for _, c := range b {
		count[c]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(b))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
