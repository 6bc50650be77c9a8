//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// marker is a server that leaves a mark where it is started, and one tool.
const marker = `touch started
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"initialize"'*) r='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}' ;;
  *'"tools/list"'*) r='{"tools":[{"name":"put","inputSchema":{"type":"object"}}]}' ;;
  *'"tools/call"'*) r='{"content":[{"type":"text","text":"done"}]}' ;;
  *'"id"'*)
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
    continue
    ;;
  *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done
`

// A frozen plan in a checkout is no permission: until this user has allowed what it starts, run starts nothing and asks
// for no secret.
func TestRunAsksForTrustFirst(t *testing.T) {
	b := newProject(t, map[string]string{
		"server.sh": marker,
		"joy.yaml": `version: 1
name: put
image: tiny
connections:
  m: {command: [sh, server.sh], env: {KEY: "secret:m"}, unconfined: it leaves a mark}
steps:
  - {id: put, action: m.put, approve: granted}
`,
	})
	b.env = append(b.env, "JOY_SECRET_M=canary-of-the-marker")
	unasked := b.env
	b.allow()
	code, _, stderr := b.run("build")
	require.Zero(t, code, stderr)
	code, _, stderr = b.run("run")
	require.Zero(t, code, stderr)
	mark, runs := filepath.Join(b.dir, "started"), filepath.Join(b.dir, ".joy", "runs")
	require.FileExists(t, mark, "the mark shows a start")

	require.NoError(t, os.Remove(mark))
	before, err := os.ReadDir(runs)
	require.NoError(t, err)
	b.env = unasked
	for i, args := range [][]string{{"run"}, {"run", "-v"}, {"check", "--ready"}, {"connect", "test"}} {
		code, stdout, stderr := b.run(args...)
		require.Equal(t, 4, code, "%v: %s%s", args, stdout, stderr)
		require.NoFileExists(t, mark, "%v started it", args)
		require.NotContains(t, stdout+stderr, "canary", "%d", i)
	}
	after, err := os.ReadDir(runs)
	require.NoError(t, err)
	require.Len(t, after, len(before), "no run began")
}
