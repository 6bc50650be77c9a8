package skill

import "strings"

// finder finds which of many groups of words are in a text, in one pass over it.
type finder struct {
	begins [1 << 16]uint8 // by the first two bytes of a word: its list, from 1
	lists  [][]grouped
}

type grouped struct {
	word  string
	group int
}

// newFinder takes at most 64 groups of words of two bytes or more, in lower case, with at most 255 beginnings.
func newFinder(groups ...[]string) *finder {
	f := &finder{lists: make([][]grouped, 1)}
	for g, words := range groups {
		for _, w := range words {
			at := &f.begins[int(w[0])<<8|int(w[1])]
			if *at == 0 {
				*at = uint8(len(f.lists))
				f.lists = append(f.lists, nil)
			}
			f.lists[*at] = append(f.lists[*at], grouped{w, g})
		}
	}
	return f
}

// in is a bit for each group of which a word is in low, a text in lower case.
func (f *finder) in(low string) (found uint64) {
	for i := 0; i+1 < len(low); i++ {
		list := f.begins[int(low[i])<<8|int(low[i+1])]
		if list == 0 {
			continue
		}
		for _, e := range f.lists[list] {
			if found&(1<<e.group) == 0 && strings.HasPrefix(low[i:], e.word) {
				found |= 1 << e.group
			}
		}
	}
	return found
}
