package record_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/record"
	"github.com/joystream-ai/joy/internal/secret"
)

func TestTextIsBounded(t *testing.T) {
	s := record.Scribe{Secrets: secret.NewSet()}
	for _, unit := range []string{"x", "é", "€", "😀", "\xff"} {
		got := s.Text(strings.Repeat(unit, 20<<10))
		require.LessOrEqual(t, len(got), 8<<10+8)
		require.True(t, utf8.ValidString(got))
		require.True(t, strings.HasSuffix(got, " …"))
	}
	require.Len(t, s.Exact(strings.Repeat("x", 20<<10)), 20<<10)
}
