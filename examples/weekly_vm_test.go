//go:build linux

package examples_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
)

// agent is a copy of the example that joy works on, with a home of its own and the tester's images.
type agent struct {
	t        *testing.T
	joy, dir string
	env      []string
}

func newAgent(t *testing.T, joy string) agent {
	t.Helper()
	cache, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(t, err)
	_, err = image.Latest(cache, "full")
	require.NoError(t, err, "run script/test, or joy image build --profile full")
	a := agent{t: t, joy: joy, dir: filepath.Join(t.TempDir(), "weekly-report")}
	require.NoError(t, os.CopyFS(a.dir, os.DirFS("weekly-report")))
	require.NoError(t, os.RemoveAll(filepath.Join(a.dir, ".joy")))
	home := t.TempDir()
	a.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + filepath.Dir(cache), "XDG_RUNTIME_DIR=" + home,
		"JOY_ACCEL=" + os.Getenv("JOY_ACCEL"),
	}
	return a
}

// run runs a command of joy in the agent's directory and returns its stdout.
func (a agent) run(args ...string) string {
	a.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(a.t.Context(), a.joy, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.dir, a.env, &stdout, &stderr
	require.NoError(a.t, cmd.Run(), "joy %s: %s", strings.Join(args, " "), &stderr)
	return stdout.String()
}

type outcome struct {
	Outcome string
	Steps   map[string]struct {
		Output    map[string]any
		Artifacts []struct {
			Name   string
			SHA256 string
		}
	}
}

// report freezes the agent for this machine and runs it.
func (a agent) report() (got outcome) {
	a.t.Helper()
	table := filepath.Join(a.dir, "orders.csv")
	require.NoError(a.t, os.WriteFile(table, orders(a.t), 0o600))
	a.run("build", "-q")
	a.run("run", "-q", "--jsonl", "--input", "week="+week, "--input", "orders=@orders.csv")
	results, err := filepath.Glob(filepath.Join(a.dir, ".joy/runs/*/result.json"))
	require.NoError(a.t, err)
	require.Len(a.t, results, 1)
	body, err := os.ReadFile(results[0])
	require.NoError(a.t, err)
	require.NoError(a.t, json.Unmarshal(body, &got))
	require.Equal(a.t, "succeeded", got.Outcome)
	return got
}

// TestWeeklyReportInVM runs the example twice, each time in a VM of its own on the image full.
func TestWeeklyReportInVM(t *testing.T) {
	if testing.Short() {
		t.Skip("boots VMs")
	}
	joy := filepath.Join(t.TempDir(), "joy")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", joy, "../cmd/joy").CombinedOutput()
	require.NoError(t, err, "%s", built)

	first := newAgent(t, joy)
	require.Contains(t, first.run("build", "--check"), "is what a build would write")
	lock, err := os.ReadFile("weekly-report/joy.lock")
	require.NoError(t, err)
	require.NotContains(t, string(lock), `"amd64": "sha256`, "the committed lock pins the image of one machine")
	got := first.report()
	checkSales(t, got.Steps["aggregate"].Output, orders(t))
	require.EqualValues(t, 3, got.Steps["pdf"].Output["pages"])

	// The second time a step more looks at what came out.
	second := newAgent(t, joy)
	second.lookedAt()
	again := second.report()
	for id, step := range got.Steps {
		require.Equal(t, step, again.Steps[id], "step %s differs from one run to the next", id)
	}
	second.run("artifact", "get", "look/report.html", "look/summary.html", "look/fonts.txt", "-o", "out")
	checkPages(t, second.file("out/report.html"), 3, "Page 1 of 3", "Net revenue rose 22.4%", "€198,812", "Jackets", "thousand euros", "Czechia")
	checkPages(t, second.file("out/summary.html"), 1, "Sales in brief", "Week 47 of 2026", "€198,812", "Netherlands", "Alder down jacket")
	require.NotContains(t, second.file("out/fonts.txt"), " no ", "a font that is not embedded looks different elsewhere")
}

// lookedAt adds the skill testdata/look as a last step.
func (a agent) lookedAt() {
	a.t.Helper()
	require.NoError(a.t, os.CopyFS(filepath.Join(a.dir, "skills/look"), os.DirFS("testdata/look")))
	spec := a.file("joy.yaml")
	steps, rest, found := strings.Cut(spec, "image: full")
	require.True(a.t, found)
	steps += "  - id: look\n    skill: look\n    with:\n      report: \"${{ steps.pdf.artifacts['report.pdf'] }}\"\n" +
		"      summary: \"${{ steps.summary.artifacts['summary.docx'] }}\"\n    timeout: 10m\nimage: full"
	require.NoError(a.t, os.WriteFile(filepath.Join(a.dir, "joy.yaml"), []byte(steps+rest), 0o600))
}

func (a agent) file(name string) string {
	a.t.Helper()
	body, err := os.ReadFile(filepath.Join(a.dir, name))
	require.NoError(a.t, err)
	return string(body)
}

var placed = regexp.MustCompile(`<word xMin="([0-9.-]+)" yMin="([0-9.-]+)" xMax="([0-9.-]+)" yMax="([0-9.-]+)">(.*)</word>`)

// checkPages reads what pdftotext -bbox writes: so many A4 pages (595 × 842 points), none of them bare, with every word
// within the margins, and the given words somewhere.
func checkPages(t *testing.T, boxes string, pages int, says ...string) {
	t.Helper()
	parts := strings.Split(boxes, "<page ")[1:]
	require.Len(t, parts, pages)
	var text strings.Builder
	for _, page := range parts {
		words := placed.FindAllStringSubmatch(page, -1)
		require.Greater(t, len(words), 50, "a page is all but empty")
		for _, word := range words {
			left, top, right, bottom := parse(t, word[1]), parse(t, word[2]), parse(t, word[3]), parse(t, word[4])
			require.True(t, left >= 61 && right <= 535 && top >= 28 && bottom <= 814, "%q leaves the page's margins: %s", word[5], word[0])
			text.WriteString(word[5] + " ")
		}
	}
	for _, words := range says {
		require.Contains(t, text.String(), words)
	}
}
