package verify_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// entry is what a forger writes: anything, with a hash that is right.
type entry struct {
	typ, step, run, time, data string
}

// line writes one entry as the format says, independently of the writer.
func line(seq int, e entry, prev string) (text, hash string) {
	if e.run == "" {
		e.run = "run_a"
	}
	if e.time == "" {
		e.time = "2026-11-24T18:03:00.000Z"
	}
	if e.data == "" {
		e.data = "{}"
	}
	step := ""
	if e.step != "" {
		step = `,"step":"` + e.step + `"`
	}
	body := fmt.Sprintf(`{"seq":%d,"time":"%s","run":"%s","type":"%s"%s,"data":%s,"prev":"%s"`,
		seq, e.time, e.run, e.typ, step, e.data, prev)
	return rehash(body)
}

// rehash closes body with the hash of its bytes.
func rehash(body string) (text, hash string) {
	hash = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body)))
	return body + `,"hash":"` + hash + "\"}\n", hash
}

func chain(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	prev := plan
	for i, e := range entries {
		text, hash := line(i+1, e, prev)
		b.WriteString(text)
		prev = hash
	}
	return b.Bytes()
}

// split gives the lines of a ledger, newlines included.
func split(t *testing.T, b []byte) [][]byte {
	t.Helper()
	lines := bytes.SplitAfter(b, []byte("\n"))
	require.Empty(t, lines[len(lines)-1])
	return lines[: len(lines)-1 : len(lines)-1]
}

// forge replaces old by new in a line and makes its hash anew.
func forge(t *testing.T, l []byte, old, with string) []byte {
	t.Helper()
	require.Contains(t, string(l), old)
	body := l[:bytes.LastIndex(l, []byte(`,"hash":`))]
	text, _ := rehash(string(bytes.Replace(body, []byte(old), []byte(with), 1)))
	return []byte(text)
}
