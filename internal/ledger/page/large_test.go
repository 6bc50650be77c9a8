package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/page"
)

// long is a run of n entries: steps that each run commands, of which every hundredth fails.
func long(t testing.TB, n, steps int, command func(i int) string) *told {
	t.Helper()
	s := tell(t)
	s.add(0, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	for i := range steps {
		s.add(1, ledger.StepStarted, fmt.Sprintf("step-%d", i), ledger.Data{"kind": "script", "vm": true})
	}
	for i := range (n - 2 - steps) / 2 {
		text, exit := command(i), 0
		if i%100 == 99 {
			exit = 1
		}
		step := fmt.Sprintf("step-%d", i%steps)
		seq := s.add(1, ledger.CommandStarted, step, ledger.Data{"command": text, "bytes": len(text)})
		s.add(2, ledger.CommandFinished, step, ledger.Data{"of": seq, "exit": exit, "ms": 2, "stdout": ledger.Data{"bytes": 0}, "stderr": ledger.Data{"bytes": 0}})
	}
	s.add(1, ledger.RunFinished, "", ledger.Data{"outcome": "succeeded", "ms": 1})
	return s
}

// TestLargeLedgers holds that a page is bounded, whatever its ledger is, and says what it left out.
func TestLargeLedgers(t *testing.T) {
	plain := func(i int) string { return fmt.Sprintf("echo %d", i) }
	for name, c := range map[string]struct {
		n, steps int
		command  func(int) string
		most     int // bytes
		want     []string
	}{
		"many entries": {20_000, 3, plain, 600 << 10, []string{
			"3240 more not shown: joy ledger show " + runName + " --step step-0", `class="item fail"`,
		}},
		"many steps": {9000, 2000, plain, 3 << 20, []string{"1800 more steps not shown"}},
		"huge commands full of markup": {600, 2, func(i int) string { return strings.Repeat(`<'">&+`, 10_000) + fmt.Sprint(i) }, 16 << 20, []string{
			"left out, since the page has enough text",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			text := long(t, c.n, c.steps, c.command).page(nil)
			require.Less(t, len(text), c.most)
			require.Less(t, c.most, page.MaxBytes)
			for _, want := range c.want {
				has(t, text, want)
			}
		})
	}
}

// TestVeryManyStarts holds that starts without an end, and bars that lie far from each other, are bounded too.
func TestVeryManyStarts(t *testing.T) {
	s := tell(t)
	s.add(0, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	s.add(1, ledger.StepStarted, "render", ledger.Data{"kind": "script", "vm": true})
	for i := range 6000 {
		s.add(1000, ledger.ToolRequested, "render", ledger.Data{"action": "a.b"})
		s.add(1000, ledger.EgressDenied, "render", ledger.Data{"to": "host", "host": fmt.Sprintf("h%d", i), "reason": "no"})
	}
	s.add(1, ledger.RunFinished, "", ledger.Data{"outcome": "failed", "ms": 1})
	text := s.page(nil)
	require.Less(t, len(text), 700<<10)
	has(t, text, "11940 more not shown")
	require.LessOrEqual(t, strings.Count(text, `class="call unknown"`), 401)
}

// BenchmarkPage makes the page of 100,000 entries. Reading and checking the ledger is part of it.
func BenchmarkPage(b *testing.B) {
	s := long(b, 100_000, 5, func(i int) string { return fmt.Sprintf("echo %d", i) })
	size := len(s.page(nil))
	for b.Loop() {
		s.page(nil)
	}
	b.ReportMetric(float64(size), "bytes/page")
}
