package verify_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

func replace(l []byte, old, with string) []byte {
	return bytes.Replace(l, []byte(old), []byte(with), 1)
}

// Each tampering of a finished ledger of 14 lines is found, on its line, and called what it is.
func TestTampering(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func(*testing.T, [][]byte) [][]byte
		state  verify.State
		line   int
		want   string
	}{
		"a byte edited": {func(_ *testing.T, l [][]byte) [][]byte {
			l[7] = replace(l[7], "evil", "good")
			return l
		}, verify.Broken, 8, "line 8 was edited: its hash does not match its bytes"},
		"a hash edited": {func(_ *testing.T, l [][]byte) [][]byte {
			l[7] = bytes.Replace(l[7], l[7][len(l[7])-10:len(l[7])-3], []byte("0000000"), 1)
			return l
		}, verify.Broken, 8, "line 8 was edited: its hash does not match its bytes"},
		"edited and rehashed": {func(t *testing.T, l [][]byte) [][]byte {
			l[7] = forge(t, l[7], "evil", "good")
			return l
		}, verify.Broken, 9, "line 9 does not follow line 8: one of them was edited and its hash made anew"},
		"the first edited and rehashed": {func(t *testing.T, l [][]byte) [][]byte {
			l[0] = forge(t, l[0], "ada", "eve")
			return l
		}, verify.Broken, 2, "line 2 does not follow line 1"},
		"a seq edited and rehashed": {func(t *testing.T, l [][]byte) [][]byte {
			l[7] = forge(t, l[7], `"seq":8`, `"seq":9`)
			return l
		}, verify.Broken, 8, "entry 8 is missing"},
		"a copy with another seq": {func(t *testing.T, l [][]byte) [][]byte {
			return slices.Insert(l, 8, forge(t, l[3], `"seq":4`, `"seq":5`))
		}, verify.Broken, 9, "line 9 was inserted: its seq is 5 where 9 is due"},
		"inserted": {func(_ *testing.T, l [][]byte) [][]byte {
			return slices.Insert(l, 8, replace(l[7], `"seq":8`, `"seq":9`))
		}, verify.Broken, 9, "line 9 was inserted: line 10 goes on where line 8 ended"},
		"inserted, chained": {func(_ *testing.T, l [][]byte) [][]byte {
			text, _ := line(9, entry{typ: "tool.returned", run: "20261124-180300-k3fq2a", time: "2026-11-24T18:03:01.800Z"}, hashOf(l[7]))
			return slices.Insert(l, 8, []byte(text))
		}, verify.Broken, 10, "lines 9 and 10 both claim the same place: one of them was inserted"},
		"removed": {func(_ *testing.T, l [][]byte) [][]byte {
			return slices.Delete(l, 7, 8)
		}, verify.Broken, 8, "a line was removed before line 8: entry 8 is missing"},
		"three removed": {func(_ *testing.T, l [][]byte) [][]byte {
			return slices.Delete(l, 5, 8)
		}, verify.Broken, 6, "lines were removed before line 6: entries 6 to 8 are missing"},
		"the first removed": {func(_ *testing.T, l [][]byte) [][]byte {
			return l[1:]
		}, verify.Broken, 1, "a line was removed before line 1: entry 1 is missing"},
		"duplicated": {func(_ *testing.T, l [][]byte) [][]byte {
			return slices.Insert(l, 8, l[7])
		}, verify.Broken, 9, "line 9 is a duplicate of line 8"},
		"duplicated further down": {func(_ *testing.T, l [][]byte) [][]byte {
			return slices.Insert(l, 11, l[2])
		}, verify.Broken, 12, "line 12 is a duplicate of line 3"},
		"swapped": {func(_ *testing.T, l [][]byte) [][]byte {
			l[6], l[7] = l[7], l[6]
			return l
		}, verify.Broken, 7, "lines 7 and 8 were swapped"},
		"swapped far apart": {func(_ *testing.T, l [][]byte) [][]byte {
			l[2], l[11] = l[11], l[2]
			return l
		}, verify.Broken, 3, "lines 3 and 12 were swapped"},
		"moved": {func(_ *testing.T, l [][]byte) [][]byte {
			moved := l[3]
			return slices.Insert(slices.Delete(l, 3, 4), 9, moved)
		}, verify.Broken, 4, "line 10 was moved: its place is line 4"},
		"end cut off": {func(_ *testing.T, l [][]byte) [][]byte {
			return l[:13]
		}, verify.Incomplete, 0, "there is no run.finished"},
		"empty": {func(_ *testing.T, _ [][]byte) [][]byte {
			return nil
		}, verify.Incomplete, 0, "the ledger is empty"},
		"torn": {func(_ *testing.T, l [][]byte) [][]byte {
			l[13] = l[13][:37]
			return l
		}, verify.Incomplete, 14, "line 14 is torn: 37 bytes without a newline at the end; there is no run.finished"},
		"last newline taken": {func(_ *testing.T, l [][]byte) [][]byte {
			l[13] = bytes.TrimSuffix(l[13], []byte("\n"))
			return l
		}, verify.Incomplete, 14, "line 14 is torn"},
		"torn inside": {func(_ *testing.T, l [][]byte) [][]byte {
			l[5] = append(l[5][:37:37], '\n')
			return l
		}, verify.Broken, 6, "line 6 is no JSON object of an entry: it ends too early"},
		"binary after the end": {func(_ *testing.T, l [][]byte) [][]byte {
			return append(l, []byte{0, 0, '\n'})
		}, verify.Broken, 15, "line 15 is no JSON object"},
		"a blank line": {func(_ *testing.T, l [][]byte) [][]byte {
			return slices.Insert(l, 4, []byte("\n"))
		}, verify.Broken, 5, "line 5 is no JSON object"},
		"CRLF": {func(_ *testing.T, l [][]byte) [][]byte {
			l[0] = replace(l[0], "\n", "\r\n")
			return l
		}, verify.Broken, 1, "line 1 was edited: it is not in canonical form"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := c.tamper(t, split(t, golden(t, "finished.jsonl")))
			rep := check(t, bytes.Join(lines, nil))
			require.Equal(t, c.state, rep.State)
			require.Equal(t, c.line, rep.Line)
			require.Contains(t, rep.Problem, c.want)
		})
	}
}

func hashOf(l []byte) string {
	i := bytes.LastIndex(l, []byte(`"sha256:`))
	return string(l[i+1 : len(l)-3])
}

// No single byte can be changed, taken away or doubled without notice.
func TestEveryByteCounts(t *testing.T) {
	whole := golden(t, "finished.jsonl")
	for i := range whole {
		if i%7 == 0 {
			changed := bytes.Clone(whole)
			changed[i] ^= 1
			require.NotEqual(t, verify.Complete, check(t, changed).State, "byte %d changed", i)
		}
		if i%23 == 0 {
			require.NotEqual(t, verify.Complete, check(t, slices.Delete(bytes.Clone(whole), i, i+1)).State, "byte %d taken", i)
			require.NotEqual(t, verify.Complete, check(t, slices.Insert(bytes.Clone(whole), i, whole[i])).State, "byte %d doubled", i)
		}
	}
}
