//go:build linux

package main

import (
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/model/modeltest"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

const expenseReport = "../../examples/expense-report"

// answered is the JSON with which the script of the last turn has ended, as a model copies it into its answer.
var answered = regexp.MustCompile(`\{"rows": [0-9]+[^{}]*\}`)

// reporter does what a good model does: it looks, works in one script, reads what it made, and answers with what was printed.
func reporter(t *testing.T) func(int, modeltest.Request) modeltest.Reply {
	script, err := os.ReadFile("testdata/report.py")
	require.NoError(t, err)
	return func(n int, r modeltest.Request) modeltest.Reply {
		switch n {
		case 0:
			return doing(`head -n 3 "$JOY_INPUT_EXPENSES"; wc -l "$JOY_INPUT_EXPENSES"; cut -d, -f3,6 "$JOY_INPUT_EXPENSES" | sort | uniq -c`)
		case 1:
			return modeltest.Reply{Calls: []modeltest.Call{
				call("write_file", map[string]any{"path": "report.py", "content": string(script)}),
				call("run", map[string]any{"script": "set -e\npython3 report.py"}),
				call("read_file", map[string]any{"path": "out/report.md"}),
			}}
		}
		body := strings.ReplaceAll(string(r.Body), `\"`, `"`)
		return modeltest.Reply{Text: answered.FindString(body)}
	}
}

// expenses is a copy of the example with the scripted model in the place of the real one.
func expenses(t *testing.T, provider string) (*bench, *modeltest.Server) {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(expenseReport, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(path)
		name, _ := filepath.Rel(expenseReport, path)
		files[filepath.ToSlash(name)] = string(body)
		return err
	}))
	b := newProject(t, files)
	code, stdout, stderr := b.run("build", "--check")
	require.Zero(t, code, "the committed lock is stale: %s%s", stdout, stderr)
	s := wires[provider](t, reporter(t))
	spec := strings.Replace(files["joy.yaml"], "{provider: anthropic,", "{base_url: \""+s.URL+"\", provider: "+provider+",", 1)
	require.NotEqual(t, files["joy.yaml"], spec)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "joy.yaml"), []byte(spec), 0o600))
	b.env = append(b.env, "JOY_SECRET_ANTHROPIC="+modeltest.Key)
	b.allow()
	code, stdout, stderr = b.run("build", "-q")
	require.Zero(t, code, "%s%s", stdout, stderr)
	return b, s
}

// TestExpenseReport runs the example from end to end with both wires: three turns, the same report, the right numbers. Then what
// the model did becomes a script that makes the same report of the same input. At E2B and in Kata it is the same report.
func TestExpenseReport(t *testing.T) {
	needVM(t)
	_, err := image.Latest(filepath.Join(testerCache(), "joy"), "base")
	require.NoError(t, err, "run script/test, which builds the images")
	var reports []map[string]any
	for _, provider := range []string{"anthropic", "openai"} {
		b, s := expenses(t, provider)
		code, _, stderr := b.run("run", "--jsonl", "--input", "expenses=@data/expenses.csv")
		require.Zero(t, code, stderr)
		entries := b.ledger()
		t.Logf("%s: %d turns", provider, len(s.Requests()))
		require.Len(t, s.Requests(), 3)
		reports = append(reports, artifactsOf(entries))
		b.holds(t)
		b.verifies(0)
		if provider == "openai" {
			continue
		}
		code, _, stderr = b.run("freeze", "report", "--from", "latest")
		require.Zero(t, code, stderr)
		require.Contains(t, stderr, "the result is what the script prints")
		file := filepath.Join(b.dir, "joy.yaml")
		spec, err := os.ReadFile(file)
		require.NoError(t, err)
		frozen := regexp.MustCompile(`(?m)^model: .*\n`).ReplaceAllString(string(spec), "")
		frozen = strings.Replace(frozen, "skill: expense-report", "skill: expense-report-frozen", 1)
		frozen = strings.Replace(frozen, "skills/expense-report]", "skills/expense-report-frozen]", 1)
		require.NoError(t, os.WriteFile(file, []byte(frozen), 0o600))
		code, stdout, stderr := b.run("build", "-q")
		require.Zero(t, code, "%s%s", stdout, stderr)
		code, _, stderr = b.run("run", "--jsonl", "--input", "expenses=@data/expenses.csv")
		require.Zero(t, code, stderr)
		require.Equal(t, artifactsOf(entries), artifactsOf(b.ledger()))
		require.Equal(t, outputOf(entries), outputOf(b.ledger()))
		require.Len(t, s.Requests(), 3, "no model was asked again")
	}
	require.NotEmpty(t, reports[0])
	require.Equal(t, reports[0], reports[1])

	t.Run("e2b", func(t *testing.T) {
		b, s := expenses(t, "anthropic")
		server := e2btest.Start(t, e2btest.Options{Runner: e2btest.Namespaces{Profile: "base"}})
		b.env = append(append(b.env, server.Env()...), "JOY_SANDBOX=e2b")
		spec, err := os.ReadFile(filepath.Join(b.dir, "joy.yaml"))
		require.NoError(t, err)
		b.write("joy.yaml", string(spec)+"e2b_template: base\n")
		b.sameReport(t, s, "e2b", reports[0])
		require.Empty(t, server.Sandboxes())
	})
	t.Run("kata", func(t *testing.T) {
		c := startCluster(t, "")
		b, s := expenses(t, "anthropic")
		c.use(b, "base")
		b.sameReport(t, s, "kata", reports[0])
		c.leaves(b)
	})
}

// sameReport holds that the model's three turns make the same report elsewhere.
func (b *bench) sameReport(t *testing.T, s *modeltest.Server, provider string, want map[string]any) {
	t.Helper()
	code, _, stderr := b.run("build", "-q")
	require.Zero(t, code, stderr)
	code, _, stderr = b.run("run", "--jsonl", "--input", "expenses=@data/expenses.csv")
	require.Zero(t, code, stderr)
	require.Len(t, s.Requests(), 3)
	entries := b.ledger()
	require.Equal(t, provider, only(entries, "sandbox.created")[0].Data["provider"])
	require.Equal(t, want, artifactsOf(entries))
	b.holds(t)
	b.verifies(0)
}

// holds compares the result with what the CSV says.
func (b *bench) holds(t *testing.T) {
	t.Helper()
	f, err := os.Open(filepath.Join(expenseReport, "data/expenses.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	total, look, seen := 0.0, 0, map[string]bool{}
	for _, row := range rows[1:] {
		amount, err := strconv.ParseFloat(row[4], 64)
		require.NoError(t, err)
		total += amount
		if line := strings.Join(row, ","); amount > 300 || row[5] != "yes" || seen[line] {
			look++
		} else {
			seen[line] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*/result.json"))
	require.NoError(t, err)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var result struct {
		Steps map[string]struct {
			Output struct {
				Rows       int     `json:"rows"`
				Total      float64 `json:"total"`
				SecondLook int     `json:"second_look"`
			} `json:"output"`
		} `json:"steps"`
	}
	require.NoError(t, json.Unmarshal(text, &result), "%s", text)
	got := result.Steps["report"].Output
	require.Equal(t, len(rows)-1, got.Rows)
	require.Equal(t, look, got.SecondLook)
	require.InDelta(t, math.Round(total*100)/100, got.Total, 0.001)
}
