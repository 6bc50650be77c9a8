// Package rules finds credentials that nobody told joy of, by their shape: an AWS key, a GitHub token, a private key.
// The rules are gitleaks' own (https://github.com/gitleaks/gitleaks, MIT), taken from its module as they are; what is
// joy's is how they are applied, to a stream of any length in little memory.
//
// The one rule: what is found depends on the text alone, never on how it was cut into pieces. A match is looked for
// where a literal that it begins with, or has in it, stands, and in a bounded window around that place.
package rules

import (
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// Set is rules ready for use. It is not changed once made and safe for concurrent use.
type Set struct {
	rules   []*rule
	literal [][]int // of the trie's patterns, in order: the rules that may match there
	trie    *ahocorasick.Trie
	longest int // literal, bytes
	allowed []allowlist
}

// Default is the rules of gitleaks' own configuration, less those that look at a file's path. They are read at the
// first call, which takes some 15 ms; an expression is compiled when a text first has a literal of it.
var Default = sync.OnceValue(func() *Set {
	s, err := read(config.DefaultConfig)
	if err != nil { // a test reads the same text
		panic("the rules in gitleaks' module: " + err.Error()) //nolint:forbidigo // nothing a stranger wrote
	}
	return s
})

// document is what is read of a configuration (https://github.com/gitleaks/gitleaks#configuration).
type document struct {
	Allowlist allowlistText `toml:"allowlist"`
	Rules     []ruleText    `toml:"rules"`
}

type ruleText struct {
	ID          string          `toml:"id"`
	Regex       string          `toml:"regex"`
	Path        string          `toml:"path"`
	SecretGroup int             `toml:"secretGroup"`
	Entropy     float64         `toml:"entropy"`
	Keywords    []string        `toml:"keywords"`
	Allowlists  []allowlistText `toml:"allowlists"`
}

type allowlistText struct {
	Condition   string   `toml:"condition"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	StopWords   []string `toml:"stopwords"`
}

func read(text string) (*Set, error) {
	var doc document
	if err := toml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	s := &Set{}
	if a, ok := readAllowlist(doc.Allowlist); ok {
		s.allowed = append(s.allowed, a)
	}
	at := map[string]int{} // literals to their places
	var literals []string
	for _, t := range doc.Rules {
		if t.Path != "" || t.Regex == "" { // what a stream carries has no path
			continue
		}
		r, err := readRule(t)
		if err != nil {
			return nil, err
		}
		s.rules = append(s.rules, r)
		for _, l := range r.literals {
			i, known := at[l]
			if !known {
				i = len(literals)
				at[l], literals, s.literal = i, append(literals, l), append(s.literal, nil)
			}
			if !slices.Contains(s.literal[i], len(s.rules)-1) {
				s.literal[i] = append(s.literal[i], len(s.rules)-1)
			}
			s.longest = max(s.longest, len(l))
		}
	}
	s.trie = ahocorasick.NewTrieBuilder().AddStrings(literals).Build()
	return s, nil
}

// Names lists the rules, in their order.
func (s *Set) Names() []string {
	names := make([]string, len(s.rules))
	for i, r := range s.rules {
		names[i] = r.id
	}
	return names
}

// allowlist says what is no secret though a rule matches it.
type allowlist struct {
	target  string // what the expressions are held against: "" the secret, "match", "line"
	regexes []expression
	words   []string // lower case, in the secret
}

// readAllowlist gives false for a list that asks for a path as well, or for nothing else: it never holds for a stream.
func readAllowlist(t allowlistText) (allowlist, bool) {
	a := allowlist{target: t.RegexTarget}
	for _, x := range t.Regexes {
		a.regexes = append(a.regexes, lazily(x))
	}
	for _, w := range t.StopWords {
		a.words = append(a.words, strings.ToLower(w))
	}
	return a, !strings.EqualFold(t.Condition, "and") && len(t.Regexes)+len(t.StopWords) > 0
}

// holds says whether the list takes a finding for none.
func (a *allowlist) holds(secret, match, line string) bool {
	target := secret
	switch a.target {
	case "match":
		target = match
	case "line":
		target = line
	}
	if slices.ContainsFunc(a.regexes, func(x expression) bool { return x().MatchString(target) }) {
		return true
	}
	low := strings.ToLower(secret)
	return slices.ContainsFunc(a.words, func(w string) bool { return strings.Contains(low, w) })
}
