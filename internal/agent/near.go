package agent

import "strings"

// Near finds the word of known that is most likely meant by got, or "": at most about a third of the letters may differ,
// and case and the choice of - or _ do not count. The first of equals wins, so pass known in a fixed order.
func Near(got string, known []string) string {
	const longest = 64 // the distance costs the product of the lengths
	if len(got) > longest {
		return ""
	}
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	best, bestDistance := "", (len(got)+1)/3+1
	for _, k := range known {
		if len(k) > longest {
			continue
		}
		if d := distance(fold(got), fold(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// DidYouMean is the sentence for a hint: the near word, else all of known when they are few, else "".
func DidYouMean(got string, known []string) string {
	if near := Near(got, known); near != "" {
		return "did you mean " + near + "?"
	}
	const few = 20
	if len(known) == 0 || len(known) > few {
		return ""
	}
	return "known here: " + strings.Join(known, ", ")
}

// distance is Levenshtein's, by bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := diagonal
			if a[i] != b[j] {
				next = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
