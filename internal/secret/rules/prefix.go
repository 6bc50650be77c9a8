package rules

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is looked for. Beyond them a rule is looked for by its keywords.
const (
	maxPrefixes = 64 // of one rule
	maxPrefix   = 12 // bytes
	minPrefix   = 2
	enough      = 4 // bytes: beyond them characters of many kinds are not spelled out
)

// prefixes are lower-case literals with one of which every match begins, in either case, and whether they are all of a
// match. The empty one says that nothing is known.
func prefixes(re *syntax.Regexp) (list []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}, true
	case syntax.OpCharClass:
		return classPrefixes(re.Rune)
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpBeginText:
		return []string{""}, true
	case syntax.OpCapture:
		return prefixes(re.Sub[0])
	case syntax.OpConcat:
		return sequence(re.Sub)
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := prefixes(sub)
			list, whole = union(list, more), whole && all
		}
		return list, whole
	case syntax.OpQuest:
		more, all := prefixes(re.Sub[0])
		return union([]string{""}, more), all
	case syntax.OpPlus:
		list, _ = prefixes(re.Sub[0])
		return list, false
	case syntax.OpRepeat:
		if one, _ := prefixes(re.Sub[0]); re.Min > 0 && len(one) <= enough {
			list, whole = sequence(slices.Repeat(re.Sub, min(re.Min, maxPrefix)))
			return list, whole && re.Min == re.Max && re.Min <= maxPrefix
		}
	}
	return []string{""}, false
}

// sequence is what follows what, as long as everything before is known whole.
func sequence(subs []*syntax.Regexp) (list []string, whole bool) {
	list = []string{""}
	for _, sub := range subs {
		more, all := prefixes(sub)
		told := !slices.ContainsFunc(list, func(l string) bool { return len(l) < enough })
		if slices.Contains(more, "") && !all || len(list)*len(more) > maxPrefixes || told && len(more) > enough {
			return list, false
		}
		var next []string
		for _, l := range list {
			for _, m := range more {
				next = union(next, []string{l + m})
			}
		}
		list = next
		if !all || slices.ContainsFunc(list, func(l string) bool { return len(l) > maxPrefix }) {
			return list, false
		}
	}
	return list, true
}

// classPrefixes are the characters of a small class. Those beyond ASCII that fold to a letter are left out: no token
// has one.
func classPrefixes(ranges []rune) (list []string, whole bool) {
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1] && c < utf8.RuneSelf; c++ {
			list = union(list, []string{string(unicode.ToLower(c))})
		}
		if ranges[i+1]-ranges[i] > maxPrefixes {
			return []string{""}, false
		}
	}
	return list, true
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// longest is the greatest length of a match in bytes, at most most.
func longest(re *syntax.Regexp, most int) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		n = len(string(re.Rune))
	case syntax.OpCharClass:
		n = utf8.RuneLen(re.Rune[len(re.Rune)-1])
		if re.Rune[len(re.Rune)-1] == 0x212a || re.Rune[len(re.Rune)-1] == 0x17f { // what folds to k and s
			n = 1
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		return most
	case syntax.OpRepeat:
		if re.Max < 0 {
			return most
		}
		n = re.Max * longest(re.Sub[0], most)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, longest(sub, most))
		}
	default:
		for _, sub := range re.Sub {
			n += longest(sub, most)
		}
	}
	return min(n, most)
}
