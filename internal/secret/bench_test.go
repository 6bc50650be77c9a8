package secret_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

// The bars, in MB of text for each second of one core. The benchmarks fail below them.
const (
	barValues = 150
	barSource = 10
	barLogs   = 25
)

// BenchmarkRedact is log lines through a set of known values.
func BenchmarkRedact(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprintf("%d secrets", n), func(b *testing.B) { atLeast(b, barValues, knowing(b, secret.NewSet(), n), logs("")) })
	}
}

// BenchmarkShapes is text through ten values and all rules: log lines of which half name a key, a token, a secret or a
// password, and source of Go.
func BenchmarkShapes(b *testing.B) {
	named := "INFO token refreshed for user %d, password check passed, api key cached, expires in %ds\n"
	b.Run("logs", func(b *testing.B) { atLeast(b, barLogs, knowing(b, secret.NewScrubber(), 10), logs(named)) })
	b.Run("source", func(b *testing.B) { atLeast(b, barSource, knowing(b, secret.NewScrubber(), 10), source(b)) })
}

// atLeast measures in CPU time, which other programs disturb least, and in turn with the baseline: SHA-256 of the same bytes,
// by crypto/sha256.
func atLeast(b *testing.B, bar float64, s *secret.Set, text []byte) {
	b.Helper()
	w := s.Writer(discard{}, nil)
	feed := func() {
		for rest := text; len(rest) > 0; rest = rest[min(len(rest), 64<<10):] {
			_, _ = w.Write(rest[:min(len(rest), 64<<10)])
		}
	}
	feed() // what is compiled when it is first needed
	var own, base time.Duration
	for b.Loop() {
		begun := cpuTime()
		feed()
		between := cpuTime()
		sha256.Sum256(text)
		own, base = own+between-begun, base+cpuTime()-between
	}
	require.NoError(b, w.Close())
	rate := float64(b.N) * float64(len(text)) / 1e6 / own.Seconds()
	b.ReportMetric(rate, "MB/s-of-a-core")
	b.ReportMetric(base.Seconds()/own.Seconds(), "of-sha256-ratio")
	require.GreaterOrEqual(b, rate, bar, "MB/s of a core")
}

// knowing is s with n values.
func knowing(b *testing.B, s *secret.Set, n int) *secret.Set {
	b.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		require.NoError(b, s.Add(fmt.Sprintf("secret-%d", i), fmt.Appendf(nil, "sk-%016x%016x", rng.Uint64(), rng.Uint64())))
	}
	return s
}

// logs are lines as services write them, each with one more when that is given.
func logs(more string) (text []byte) {
	for i := range 8000 {
		text = fmt.Appendf(text, sample, i, i*7, i%10)
		if more != "" {
			text = fmt.Appendf(text, more, i, i%60)
		}
	}
	return text
}
