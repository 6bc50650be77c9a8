package docs_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRules holds the tables of rules to those in the code.
func TestRules(t *testing.T) {
	for _, c := range []struct{ file, table, weight, says string }{
		{"skill/rules_sandbox.go", "determinations", "points", "means"},
		{"skill/rules_tool.go", "tools", "points", "means"},
		{"skill/rules_network.go", "network", "points", "means"},
		{"skill/rules_risk.go", "risks", "severity", "says"},
	} {
		var want [][]string
		inspect(t, c.file, func(n ast.Node) {
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
				row[key.Name] = written(kv.Value)
			}
			if row["id"] != "" {
				want = append(want, []string{row["id"], row[c.weight], row[c.says]})
			}
		})
		require.NotEmpty(t, want)
		require.Equal(t, want, rows(t, "rules.md", c.table))
	}
}

// written is a value of a table as the page writes it.
func written(e ast.Expr) string {
	switch v := e.(type) {
	case *ast.BasicLit:
		if v.Kind == token.STRING {
			return literals(v)[0]
		}
		return v.Value
	case *ast.UnaryExpr:
		return v.Op.String() + written(v.X)
	case *ast.Ident:
		return strings.ToLower(strings.TrimPrefix(v.Name, "Severity"))
	default:
		return ""
	}
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
	listed := []string{"JOY-BOX-UNSURE", "JOY-BOX-NONE"}
	for _, table := range []string{"determinations", "tools", "network", "risks", "codes"} {
		listed = append(listed, column(rows(t, "rules.md", table), 0)...)
	}
	for id := range seen {
		require.Contains(t, listed, id, "docs/rules.md does not explain it")
	}
	for _, id := range listed {
		require.True(t, seen[id], "docs/rules.md explains %s, which joy never prints", id)
	}
}
