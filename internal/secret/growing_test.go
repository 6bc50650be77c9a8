package secret_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

// A body that grows is redacted as it would be by itself, at every length, wherever a secret lies: also over the end of the body
// before.
func TestGrowingIsRedact(t *testing.T) {
	s := secret.NewScrubber()
	require.NoError(t, s.Add("db", []byte(nasty)))
	text := `{"a":"` + nasty + ` and ` + githubToken + `","b":"` + strings.Repeat("word ", 30) + `password = ` + nasty + nasty + githubToken + `"}`
	for step := 1; step < len(text); step += 3 {
		g := s.Growing()
		for n := step; n < len(text); n += step {
			body := []byte(text[:n] + `],"end":1}`)
			want, hits := s.Redact(body)
			got, gotHits := g.Redact(body)
			require.Equal(t, string(want), string(got), "%d of %d", n, step)
			require.Equal(t, hits, gotHits)
		}
	}
}

// What is told meanwhile is found in what was looked at before, and another body is another body.
func TestGrowingBeginsAnew(t *testing.T) {
	s := secret.NewScrubber()
	g := s.Growing()
	body := []byte(strings.Repeat("hunter2hunter2 ", 20))
	got, hits := g.Redact(body)
	require.Equal(t, body, got)
	require.Empty(t, hits)
	require.NoError(t, s.Add("late", []byte("hunter2hunter2")))
	got, hits = g.Redact(append(body, "and more"...))
	require.NotContains(t, string(got), "hunter2")
	require.Len(t, hits, 20)
	for _, other := range []string{"", "x", "hunter2hunter2", strings.Repeat("y hunter2hunter2", 9), strings.Repeat("y hunter2hunter2", 2)} {
		want, _ := s.Redact([]byte(other))
		got, _ := g.Redact([]byte(other))
		require.Equal(t, string(want), string(got))
	}
}

func FuzzGrowing(f *testing.F) {
	f.Add("key = ", " x\n", uint64(1))
	f.Add("curl -H 'Authorization: Bearer abc' \\\n", "-----BEGIN RSA PRIVATE KEY-----", uint64(3))
	f.Fuzz(func(t *testing.T, before, after string, seed uint64) {
		s := secret.NewScrubber()
		require.NoError(t, s.Add("db", []byte("s3cr3t/p@ss")))
		text := strings.Repeat(before+githubToken+after+"s3cr3t/p@ss", 3)
		g, rng := s.Growing(), rand.New(rand.NewPCG(seed, 2))
		for n := 0; n <= len(text); n += 1 + rng.IntN(len(text)) {
			body := fmt.Append(nil, text[:n], seed)
			want, hits := s.Redact(body)
			got, gotHits := g.Redact(body)
			require.Equal(t, string(want), string(got))
			require.Equal(t, hits, gotHits)
		}
	})
}
