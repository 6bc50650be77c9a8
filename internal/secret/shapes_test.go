package secret_test

import (
	"bytes"
	"cmp"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

// githubToken has the shape of one. It is made here so that no scanner takes this file for a leak.
var githubToken = "gh" + "p_" + strings.Repeat("A1b2C3d4E5f6", 3)

// A rule's match is replaced as a value is, under the rule's name, and told with its place in what came in.
func TestShapesAreReplaced(t *testing.T) {
	s := secret.NewScrubber()
	require.NoError(t, s.Add("db", []byte("hunter2hunter2")))
	text := "pw=hunter2hunter2 hunter2hunter2 t=" + githubToken + "\nand hunter2hunter2 " + githubToken + " end"
	want := "pw=[REDACTED:db] [REDACTED:db] t=[REDACTED:github-pat]\nand [REDACTED:db] [REDACTED:github-pat] end"
	for n := 1; n < len(text)+1; n++ {
		got, hits := stream(t, s, text, n)
		require.Equal(t, want, got, "chunks of %d", n)
		var places []string
		for _, h := range hits {
			if h.Form == secret.Rule {
				require.Equal(t, githubToken, text[h.Offset:int(h.Offset)+h.Len], "chunks of %d", n)
				places = append(places, h.Name)
			}
		}
		require.Equal(t, []string{"github-pat", "github-pat"}, places)
	}
}

// Both passwords of a line are replaced, not the last alone.
func TestEveryShapeOfALineIsReplaced(t *testing.T) {
	text := "curl -u joe:swordfish7 x && curl -u ann:codw4llop y\n"
	want := "curl -u [REDACTED:curl-auth-user] x && curl -u [REDACTED:curl-auth-user] y\n"
	for n := 1; n < len(text)+1; n++ {
		got, hits := stream(t, secret.NewScrubber(), text, n)
		require.Equal(t, want, got, "chunks of %d", n)
		require.Len(t, hits, 2, "chunks of %d", n)
	}
}

// Whoever is told of a value finds it under its own name, also where a rule would take it.
func TestAKnownValueIsNoShape(t *testing.T) {
	s := secret.NewScrubber()
	require.NoError(t, s.Add("token", []byte(githubToken)))
	require.Equal(t, "[REDACTED:token]", redact(s, githubToken))
	require.Equal(t, "[REDACTED:token]", redact(s.Without("github-pat"), githubToken), "no rule that is left out lets it through")
}

func TestWithoutARule(t *testing.T) {
	s := secret.NewScrubber()
	less := s.Without("github-pat", "jwt")
	require.Equal(t, githubToken, redact(less, githubToken))
	require.Equal(t, "[REDACTED:github-pat]", redact(s, githubToken), "the other Set is as it was")
	require.NoError(t, s.Add("later", []byte("joyrt_0123456789")))
	require.Equal(t, "[REDACTED:later]", redact(less, "joyrt_0123456789"), "what one is told, the other knows")
	require.Equal(t, githubToken, redact(secret.NewSet(), githubToken), "a Set alone has no rules")
}

// A whole line goes on at once: only what may be the beginning of something is held back.
func TestLinesAreNotHeldBack(t *testing.T) {
	var out bytes.Buffer
	w := secret.NewScrubber().Writer(&out, nil)
	for _, line := range []string{"building\n", "the key is turned\n", "api_token = \n", "done\n"} {
		out.Reset()
		_, err := io.WriteString(w, line)
		require.NoError(t, err)
		require.Equal(t, line, out.String())
	}
}

// However a stream is cut, the outcome is that of one piece, and neither a value nor a token is in it.
func FuzzShapes(f *testing.F) {
	f.Add("key = ", " x\n", uint64(1))
	f.Add("", "", uint64(2))
	f.Add("curl -H 'Authorization: Bearer abc' \\\n", "-----BEGIN RSA PRIVATE KEY-----", uint64(3))
	f.Add("\x00\xff", "\x00\n", uint64(4))
	f.Fuzz(func(t *testing.T, before, after string, seed uint64) {
		s := secret.NewScrubber()
		require.NoError(t, s.Add("db", []byte("s3cr3t/p@ss")))
		text := before + "\n" + githubToken + "\n" + after + "s3cr3t/p@ss" + before + after
		whole, hits := s.Redact([]byte(text))
		require.NotContains(t, string(whole), "s3cr3t/p@ss")
		require.NotContains(t, string(whole), githubToken)
		rng := rand.New(rand.NewPCG(seed, 2))
		got, gotHits := stream(t, s, text, 1+rng.IntN(len(text)+10))
		require.Equal(t, string(whole), got)
		slices.SortStableFunc(gotHits, func(a, b secret.Hit) int { return cmp.Compare(a.Offset, b.Offset) })
		require.Equal(t, hits, gotHits, "though the values are told of first")
	})
}

// A file of 100 MB passes in memory that does not depend on its size, with a key that never ends in it too.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB take seconds")
	}
	line := []byte(strings.Repeat("2026-11-29T15:03:04Z INFO token refreshed for user 7, api_key=none, expires in 60s\n", 800))
	endless := []byte(strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 2000))
	w := secret.NewScrubber().Writer(discard{}, nil)
	_, err := w.Write(line) // what is made once
	require.NoError(t, err)
	before, most := heap(), uint64(0)
	_, err = w.Write([]byte("-----BEGIN RSA " + "PRIVATE KEY-----\n"))
	require.NoError(t, err)
	for n := 0; n < 100<<20; n += len(line) + len(endless) {
		_, err = w.Write(line)
		require.NoError(t, err)
		_, err = w.Write(endless)
		require.NoError(t, err)
		if n%(16<<20) < len(line)+len(endless) {
			most = max(most, heap())
		}
	}
	require.NoError(t, w.Close())
	require.Less(t, most, before+2<<20)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
