package account

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// maxBrief is how many bytes of an entry's texts are kept to be told later: an entry may have 16 MiB.
const maxBrief = 8 << 10

// brief is e without its bytes, its texts cut to maxBrief in all. It leaves e's data as they are.
func brief(e verify.Entry) verify.Entry {
	if len(e.Raw) > maxBrief {
		left := maxBrief
		e.Data, _ = cut(e.Data, &left).(map[string]any)
	}
	e.Raw = nil
	return e
}

// cut copies a value as far as there is room left for it; what there is none for is dropped.
func cut(v any, left *int) any {
	switch v := v.(type) {
	case string:
		text := clip(v, *left)
		*left -= len(text)
		return text
	case []any:
		list := []any{}
		for _, x := range v {
			if *left -= 8; *left <= 0 {
				break
			}
			list = append(list, cut(x, left))
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for _, key := range slices.SortedFunc(maps.Keys(v), shorter(v)) {
			if *left -= 8 + len(key); *left <= 0 {
				break
			}
			m[key] = cut(v[key], left)
		}
		return m
	}
	return v
}

// shorter puts the members of an object before the long texts, so that one text does not cost the others.
func shorter(m map[string]any) func(a, b string) int {
	size := func(key string) int { s, _ := m[key].(string); return len(s) }
	return func(a, b string) int { return size(a) - size(b) }
}

// clip is at most n bytes of text, and says so when they are not all.
func clip(text string, n int) string {
	const mark = "…"
	if len(text) <= n {
		return text
	}
	n = max(n-len(mark), 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return string(append([]byte(text[:n]), mark...)) // not a part of text, which it would keep
}
