package rules_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret/rules"
)

// What Scan tells is what Find finds in the whole, also far beyond what it reads at once.
func TestScan(t *testing.T) {
	var b strings.Builder
	for _, s := range samples() {
		b.WriteString(s.text() + "\n" + strings.Repeat("nothing to see on this line\n", 1500))
	}
	type place struct {
		rule string
		at   int64
	}
	var want, got []place
	for _, s := range whole(b.String()) {
		want = append(want, place{s.Rule, int64(s.Start)})
	}
	want = slices.Compact(want)
	hit := func(rule string, at int64) { got = append(got, place{rule, at}) }
	require.NoError(t, rules.Default().Finder().Scan(strings.NewReader(b.String()), hit))
	require.Equal(t, want, got)
	require.Greater(t, len(got), 30)
}

func TestRedact(t *testing.T) {
	find := rules.Default().Finder()
	for _, s := range samples() {
		got := find.Redact("before\n" + s.text() + "after")
		require.NotContains(t, got, s.token, s.rule)
		require.Contains(t, got, "[REDACTED:", s.rule)
	}
	require.Equal(t, "a line\n", find.Redact("a line\n"))
}

func TestScanTellsOfABrokenReader(t *testing.T) {
	broken := errors.New("the disk is gone")
	require.ErrorIs(t, rules.Default().Finder().Scan(iotest.ErrReader(broken), nil), broken)
	require.NoError(t, rules.Default().Finder().Scan(strings.NewReader(""), nil))
}
