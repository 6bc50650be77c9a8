package runner

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

func TestTextIsBounded(t *testing.T) {
	r := &run{Config: Config{Secrets: secret.NewSet()}}
	for _, unit := range []string{"x", "é", "€", "😀", "\xff"} {
		got := r.text(strings.Repeat(unit, 20<<10))
		require.LessOrEqual(t, len(got), 8<<10+8)
		require.True(t, utf8.ValidString(got))
		require.True(t, strings.HasSuffix(got, " …"))
	}
	require.Len(t, r.exact(strings.Repeat("x", 20<<10)), 20<<10)
}
