package secret_test

import (
	"bytes"
	"crypto/sha1" // #nosec G505 -- names of git objects
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/secret"
)

// set knows each value under its own name.
func set(t testing.TB, pairs ...string) *secret.Set {
	t.Helper()
	s := secret.NewSet()
	for i := 0; i < len(pairs); i += 2 {
		require.NoError(t, s.Add(pairs[i], []byte(pairs[i+1])))
	}
	return s
}

func redact(s *secret.Set, text string) string {
	b, _ := s.Redact([]byte(text))
	return string(b)
}

func TestAddRefuses(t *testing.T) {
	for name, c := range map[string]struct{ name, value string }{
		"empty":              {"a", ""},
		"short":              {"a", "1234567"},
		"short when trimmed": {"a", " 1234567\n"},
		"only space":         {"a", "            "},
		"no name":            {"", "12345678"},
		"name with bracket":  {"a]", "12345678"},
		"name with newline":  {"a\n", "12345678"},
		"name with escape":   {"\x1b[2K", "12345678"},
		"long name":          {strings.Repeat("a", 129), "12345678"},
	} {
		t.Run(name, func(t *testing.T) {
			s := secret.NewSet()
			err := s.Add(c.name, []byte(c.value))
			require.Equal(t, fault.Input, fault.KindOf(err))
			require.Error(t, err)
			if v := strings.TrimSpace(c.value); v != "" {
				require.NotContains(t, err.Error(), v, "an error never holds the value")
			}
			require.Equal(t, "1234567 12345678", redact(s, "1234567 12345678"))
		})
	}
}

func TestNothingIsFoundWhereNothingIs(t *testing.T) {
	s := set(t, "a", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "b", "correct horse battery staple", "c", "deadbeefcafef00d")
	rng := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&text, "commit %x\n", sha1.Sum(fmt.Append(nil, i))) // #nosec G401 -- as above
		fmt.Fprintf(&text, "id %08x-%04x-4%03x-a%03x-%012x\n", rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<12), rng.Uint64()>>16)
		text.WriteString("correct horse battery stapl ghp_16C7e42F292c6912E7710c838347Ae178B4 deadbeefcafef00\n")
	}
	out, hits := s.Redact(text.Bytes())
	require.Empty(t, hits)
	require.Same(t, &text.Bytes()[0], &out[0], "without a hit the bytes come back as they are")
	out, hits = secret.NewSet().Redact([]byte("x"))
	require.Equal(t, "x", string(out))
	require.Empty(t, hits)
}

func TestOverlaps(t *testing.T) {
	for name, c := range map[string]struct {
		pairs      []string
		text, want string
	}{
		"the longer wins":        {[]string{"a", "12345678", "b", "12345678abcd"}, "x12345678abcdx", "x[REDACTED:b]x"},
		"the shorter alone":      {[]string{"a", "12345678", "b", "12345678abcd"}, "x12345678abcx", "x[REDACTED:a]abcx"},
		"end over beginning":     {[]string{"a", "abcdefgh", "b", "efgh1234"}, "-abcdefgh1234-", "-[REDACTED:a][REDACTED:b]-"},
		"itself over and over":   {[]string{"a", "aaaaaaaa"}, "-" + strings.Repeat("a", 100) + "-", "-[REDACTED:a]-"},
		"side by side":           {[]string{"a", "abcdefgh"}, "abcdefghabcdefgh", "[REDACTED:a][REDACTED:a]"},
		"inside":                 {[]string{"a", "0123456789abcdefgh", "b", "56789abc"}, "0123456789abcdefgh", "[REDACTED:a]"},
		"two names, one value":   {[]string{"a", "abcdefgh", "b", "abcdefgh"}, "abcdefgh", "[REDACTED:a]"},
		"one name, two values":   {[]string{"a", "abcdefgh", "a", "12345678"}, "abcdefgh 12345678", "[REDACTED:a] [REDACTED:a]"},
		"a false start":          {[]string{"a", "ababababX1"}, "abababababababX1", "ababab[REDACTED:a]"},
		"cut off at the end":     {[]string{"a", "abcdefgh"}, "abcdefg", "abcdefg"},
		"white space is no part": {[]string{"a", "\n abcdefgh\r\n"}, "abcdefgh\n", "[REDACTED:a]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, redact(set(t, c.pairs...), c.text))
		})
	}
}

func TestFind(t *testing.T) {
	s := set(t, "db", "s3cr3t/p@ss")
	elf := append(bytes.Repeat([]byte{0x7f, 'E', 'L', 'F', 0, 0xff}, 30_000), "s3cr3t/p@ss"...)
	hits, err := s.Find(iotest.OneByteReader(bytes.NewReader(append(elf, "\x00s\x003\x00c"...))))
	require.NoError(t, err)
	require.Equal(t, []secret.Hit{{Name: "db", Form: secret.Raw, Offset: 180_000, Len: 11}}, hits)

	gone := errors.New("the disk is gone")
	_, err = s.Find(iotest.ErrReader(gone))
	require.ErrorIs(t, err, gone)
}

const sample = `2026-11-29T15:03:04.123Z INFO  render page=%d rows=%d commit=9fceb02d0ae598e95dc970b74767f19372d61af8
Downloading https://files.example.com/packages/numpy-2.1.0-cp312-manylinux_x86_64.whl (16.%d MB)
`

// discard takes bytes one way only, so that no shortcut of io.Discard is measured.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
