// Package nodetest finds the MCP servers and clients, and the E2B clients, of script/node, so that tests talk to the real
// ones. Its rule: it looks in .cache/node and nowhere else, so a test never depends on what npm or Node the machine happens
// to have.
package nodetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Node is the path of the pinned Node (24). It skips the test under -short and fails it where script/setup did not run.
func Node(t testing.TB) string {
	t.Helper()
	return installed(t, "bin", "node")
}

// Modules is the node_modules directory with everything of script/node/package.json. A script that imports from it has
// to lie beside it or below: Node looks for packages from a module's own place upwards, not from the working directory.
func Modules(t testing.TB) string {
	t.Helper()
	return installed(t, "node_modules")
}

// Everything is the command of the reference server that has one of each kind of tool, speaking over stdio.
func Everything(t testing.TB) []string {
	t.Helper()
	return []string{Node(t), server(t, "everything"), "stdio"}
}

// Filesystem is the command of the server whose tools read and write the files below dir, speaking over stdio. dir has
// to be there.
func Filesystem(t testing.TB, dir string) []string {
	t.Helper()
	return []string{Node(t), server(t, "filesystem"), dir}
}

// NPM is the command of the npm that belongs to Node, for tests that pack or install.
func NPM(t testing.TB) []string {
	t.Helper()
	return []string{Node(t), installed(t, "npm", "bin", "npm-cli.js")}
}

// server is the program of one of the reference servers.
func server(t testing.TB, name string) string {
	t.Helper()
	return installed(t, "node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js")
}

// installed is a path below .cache/node of this checkout, which has to be there.
func installed(t testing.TB, elem ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the MCP servers of script/node")
	}
	path := filepath.Join(append([]string{root(t), ".cache", "node"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: run script/test, or script/node/install alone", path)
	}
	return path
}

// root is the checkout: go test runs in a package's directory, somewhere below go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, parent, dir, "go.mod is in no directory above the test")
		dir = parent
	}
}
