package docs_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/cli"
	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
)

// rows are the cells of the table behind <!-- marker -->, without its head and without backticks.
func rows(t *testing.T, page, marker string) [][]string {
	t.Helper()
	_, text, ok := strings.Cut(read(t, page), "<!-- "+marker+" -->\n")
	require.True(t, ok, "%s has no <!-- %s -->", page, marker)
	text, _, _ = strings.Cut(text, "\n\n")
	var out [][]string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "`", ""))
		}
		out = append(out, cells)
	}
	return out
}

func column(rows [][]string, i int) []string {
	out := make([]string, len(rows))
	for j, r := range rows {
		out[j] = r[i]
	}
	return out
}

func TestLedgerTypes(t *testing.T) {
	listed := rows(t, "ledger-format.md", "types")
	require.ElementsMatch(t, verify.Types(), column(listed, 0))
	written := map[string]bool{}
	sources(t, func(path string, file *ast.File) {
		if strings.Contains(path, "internal/ledger") || strings.HasSuffix(path, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "ledger" {
					written[strings.ToLower(s.Sel.Name)] = true
				}
			}
			return true
		})
	})
	written["ledgerrecovered"], written["runsealed"] = true, true // by the writer itself
	for _, r := range listed {
		name := strings.ReplaceAll(r[0], ".", "")
		require.Equal(t, written[name], !strings.HasPrefix(r[1], "reserved"), "%s: is it written?", r[0])
	}
}

func TestExitCodes(t *testing.T) {
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), []string{"help", "exit-codes", "--json"}, cli.Env{
		Stdout: &out, Stderr: &errs, Dir: t.TempDir(),
		LookupEnv: func(key string) (string, bool) { return "/nowhere", key == "HOME" },
	})
	require.Zero(t, code, errs.String())
	var doc struct {
		Codes []struct{ Code, Meaning string } `json:"exit_codes"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	var want [][]string
	for _, c := range doc.Codes {
		want = append(want, []string{c.Code, c.Meaning})
	}
	require.Equal(t, want, rows(t, "exit-codes.md", "exits"))
}

func TestLockKeys(t *testing.T) {
	var want []string
	keys := func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			want = append(want, prefix+name)
		}
	}
	keys("", reflect.TypeFor[plan.Plan]())
	keys("skills[].", reflect.TypeFor[plan.Skill]())
	keys("connections{}.", reflect.TypeFor[plan.Connection]())
	keys("steps[].", reflect.TypeFor[plan.Step]())
	require.ElementsMatch(t, want, column(rows(t, "lock-format.md", "keys"), 0))
}

func TestProtocol(t *testing.T) {
	kinds := []guestproto.Kind{
		guestproto.FrameStdin, guestproto.FrameStdinEOF, guestproto.FrameStdout, guestproto.FrameStderr, guestproto.FrameExit,
		guestproto.FrameError, guestproto.FrameFile, guestproto.FrameData, guestproto.FrameFileEnd, guestproto.FrameSkip,
		guestproto.FrameEnd, guestproto.FrameBeside,
	}
	var want []string
	for _, kind := range kinds {
		want = append(want, strconv.Itoa(int(kind)))
	}
	require.Equal(t, want, column(rows(t, "guest-protocol.md", "frames"), 0))
	require.ElementsMatch(t, constants(t, "guestproto/guestproto.go", "Op"), column(rows(t, "guest-protocol.md", "ops"), 0))
	page := read(t, "guest-protocol.md")
	number := strconv.Itoa(guestproto.Version)
	require.Equal(t, guestproto.Ready, "joy-guest "+number+"\n")
	require.Contains(t, page, "the version is "+number+",")
	require.Contains(t, page, "`joy-guest "+number+"` and a line feed")
	for reason := range guestproto.SkipReasons {
		require.Regexp(t, `\b`+reason+`\b`, page)
	}
}

func TestSecretForms(t *testing.T) {
	require.ElementsMatch(t, constants(t, "secret/form.go", "Form"), column(rows(t, "secrets.md", "forms"), 0))
}

func TestDeniedCalls(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "sandbox.md"), "<!-- denied -->\n```text\n")
	text, _, _ = strings.Cut(text, "```")
	var want []string
	inspect(t, "guest/restrict_linux.go", func(n ast.Node) {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "deniedCalls" {
			want = literals(v)
		}
	})
	require.NotEmpty(t, want)
	require.Equal(t, want, strings.Fields(text))
}

// TestRefusals holds that each reason the broker gives is explained.
func TestRefusals(t *testing.T) {
	var want []string
	for _, file := range []string{"broker/api.go", "broker/broker.go"} {
		inspect(t, file, func(n ast.Node) {
			if f, ok := n.(*ast.FuncDecl); ok && regexp.MustCompile(`^(judge|find)$`).MatchString(f.Name.Name) {
				ast.Inspect(f, func(n ast.Node) bool {
					if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 2 {
						want = append(want, literals(r)...)
					}
					return true
				})
			}
		})
	}
	got := column(rows(t, "broker.md", "reasons"), 0)
	require.ElementsMatch(t, append(got, ""), want) // "" is no refusal
}
