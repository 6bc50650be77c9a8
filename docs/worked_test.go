package docs_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

var update = flag.Bool("update", false, "write what the examples print into the pages")

var (
	worked = regexp.MustCompile("(?s)(<!-- run ?(\\w*) -->\n```sh\n(.*?)```\n```text\n)(.*?)```")
	quoted = regexp.MustCompile("(?s)(<!-- file: (\\S+) lines ([0-9]+)-([0-9]+) -->\n```(?:json|text)\n)(.*?)```")
)

// TestLock holds that the example freezes to the lock that the pages show, on any machine.
func TestLock(t *testing.T) {
	res, err := build.Build(t.Context(), build.Options{Dir: filepath.Join("testdata", "hello")})
	require.NoError(t, err)
	golden(t, "testdata/hello/joy.lock", res.Lock)
}

// TestLedger holds the example's bytes to the writer's, and lets the verifier judge them.
func TestLedger(t *testing.T) {
	res, err := build.Build(t.Context(), build.Options{Dir: filepath.Join("testdata", "hello")})
	require.NoError(t, err)
	var out bytes.Buffer
	at := time.Date(2026, 11, 24, 18, 3, 0, 0, time.UTC)
	now := func() time.Time { at = at.Add(250 * time.Millisecond); return at }
	w, err := ledger.Memory("20261124-180300-k3fq2a", res.Plan.Digest, ledger.Options{Now: now, Tee: &out})
	require.NoError(t, err)
	for _, e := range []struct {
		typ  ledger.Type
		step string
		data ledger.Data
	}{
		{ledger.RunStarted, "", ledger.Data{"agent": "hello", "trigger": "manual", "workspace": "local"}},
		{ledger.CommandStarted, "greet", ledger.Data{"bytes": 40, "command": "/bin/sh /workspace/skills/greet/greet.sh"}},
		{ledger.CommandFinished, "greet", ledger.Data{"exit": 0, "ms": 114, "of": 2}},
		{ledger.RunFinished, "", ledger.Data{"ms": 750, "outcome": "succeeded"}},
	} {
		_, err := w.Append(e.typ, e.step, e.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	golden(t, "testdata/ledger.jsonl", out.Bytes())
	rep, err := verify.Check(&out, verify.Options{PlanDigest: res.Plan.Digest})
	require.NoError(t, err)
	require.Equal(t, verify.Complete, rep.State, rep.Problem)
	require.Empty(t, rep.Unknown)
}

func golden(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, want, 0o600))
	}
	require.Equal(t, string(want), read(t, path), "run go test ./docs -update")
}

// TestWorked types the examples as a reader would, in this directory.
func TestWorked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a shell")
	}
	seen := 0
	for _, page := range pages(t) {
		replace(t, page, worked, func(m []string) string {
			for _, tool := range []string{"sha256sum", m[2]} {
				if _, err := exec.LookPath(tool); err != nil && tool != "" {
					return m[4]
				}
			}
			seen++
			cmd := exec.CommandContext(t.Context(), "sh", "-euc", m[3])
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s", page, out)
			return string(out)
		})
	}
	if _, err := exec.LookPath("sha256sum"); err == nil {
		require.GreaterOrEqual(t, seen, 2)
	}
}

// TestQuoted holds excerpts to their files.
func TestQuoted(t *testing.T) {
	for _, page := range pages(t) {
		replace(t, page, quoted, func(m []string) string {
			lines := strings.SplitAfter(read(t, m[2]), "\n")
			from, _ := strconv.Atoi(m[3])
			to, _ := strconv.Atoi(m[4])
			return strings.Join(lines[from-1:to], "")
		})
	}
}

// replace holds each block to what want makes of its match, or with -update writes that into the page. The block is the
// last group, and what stands before it the first.
func replace(t *testing.T, page string, re *regexp.Regexp, want func(m []string) string) {
	t.Helper()
	text := read(t, page)
	made := re.ReplaceAllStringFunc(text, func(all string) string {
		m := re.FindStringSubmatch(all)
		block := want(m)
		if !*update {
			require.Equal(t, block, m[len(m)-1], "%s: run go test ./docs -update", page)
		}
		return m[1] + block + "```"
	})
	if *update && made != text {
		require.NoError(t, os.WriteFile(page, []byte(made), 0o600))
	}
}

// inspect calls fn for every node of a file below internal.
func inspect(t *testing.T, file string, fn func(ast.Node)) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "internal", filepath.FromSlash(file)), nil, 0)
	require.NoError(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		fn(n)
		return true
	})
}

// literals are the strings written below a node.
func literals(n ast.Node) (out []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			s, _ := strconv.Unquote(l.Value)
			out = append(out, s)
		}
		return true
	})
	return out
}

// constants are the values of a file's constants of a type.
func constants(t *testing.T, file, typ string) (out []string) {
	t.Helper()
	inspect(t, file, func(n ast.Node) {
		if v, ok := n.(*ast.ValueSpec); ok {
			if name, ok := v.Type.(*ast.Ident); ok && name.Name == typ {
				out = append(out, literals(v)...)
			}
		}
	})
	return out
}
