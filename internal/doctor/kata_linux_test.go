package doctor

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands that install Kata are those of its page.
func TestInstallKata(t *testing.T) {
	page, err := os.ReadFile("../../docs/kata.md")
	require.NoError(t, err)
	said := strings.ReplaceAll(installKata(), runtime.GOARCH+".tar", "amd64.tar")
	_, commands, found := strings.Cut(strings.TrimSuffix(said, " (docs/kata.md)"), "else ")
	require.True(t, found)
	for command := range strings.SplitSeq(commands, " && ") {
		require.Contains(t, string(page), command)
	}
}
