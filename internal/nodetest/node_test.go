package nodetest

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNode(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), Node(t), "--version").Output()
	require.NoError(t, err)
	require.Regexp(t, `^v24\.`, string(out))
	require.FileExists(t, filepath.Join(Modules(t), "@modelcontextprotocol", "client", "package.json"))
}

func TestNPM(t *testing.T) {
	npm := NPM(t)
	out, err := exec.CommandContext(t.Context(), npm[0], append(npm[1:], "--version")...).Output()
	require.NoError(t, err)
	require.Regexp(t, `^11\.`, string(out))
}

// A server that answers initialize has everything it needs: no package of its own is missing.
func TestServersAnswer(t *testing.T) {
	for name, argv := range map[string][]string{"everything": Everything(t), "filesystem": Filesystem(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			cmd.Env = []string{}
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			_, err = io.WriteString(stdin, strings.Join([]string{
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`,
				`"capabilities":{},"clientInfo":{"name":"nodetest","version":"1"}}}`, "\n",
			}, ""))
			require.NoError(t, err)
			line, err := bufio.NewReader(stdout).ReadBytes('\n')
			require.NoError(t, err)
			require.Contains(t, string(line), `"serverInfo"`)
			require.NoError(t, stdin.Close())
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed
		})
	}
}
