package docs_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRules holds the table of determinations to the one in the code.
func TestRules(t *testing.T) {
	var want [][]string
	inspect(t, "skill/rules.go", func(n ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		row := map[string]string{}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				return
			}
			key, _ := kv.Key.(*ast.Ident)
			switch v := kv.Value.(type) {
			case *ast.BasicLit:
				row[key.Name] = literals(v)[0]
			case *ast.Ident:
				row[key.Name] = v.Name
			}
		}
		want = append(want, []string{row["id"], row["weight"], row["means"]})
	})
	require.NotEmpty(t, want)
	require.Equal(t, want, rows(t, "rules.md", "determinations"))
}

// TestCodes holds that every id joy can print is explained, and no other.
func TestCodes(t *testing.T) {
	form := regexp.MustCompile(`^JOY-[A-Z]+(-[A-Z]+)*$`)
	seen := map[string]bool{}
	sources(t, func(path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, s := range literals(file) {
			if form.MatchString(s) {
				seen[s] = true
			}
		}
	})
	listed := slices.Concat(column(rows(t, "rules.md", "determinations"), 0), column(rows(t, "rules.md", "codes"), 0),
		[]string{"JOY-BOX-UNSURE", "JOY-BOX-NONE"})
	for id := range seen {
		require.Contains(t, listed, id, "docs/rules.md does not explain it")
	}
	for _, id := range listed {
		require.True(t, seen[id], "docs/rules.md explains %s, which joy never prints", id)
	}
}
