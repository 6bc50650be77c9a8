//go:build linux

package examples_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// report freezes the agent for this machine and runs it.
func (a *agent) report() outcome {
	a.t.Helper()
	a.write("orders.csv", string(orders(a.t)))
	a.installed()
	a.run("build", "-q")
	a.run("run", "-q", "--jsonl", "--input", "week="+week, "--input", "orders=@orders.csv")
	return a.outcome()
}

// TestWeeklyReportInVM runs the example in a VM on the image full, where a step more looks at what came out, and once more
// at E2B and in Kata: it comes out the same.
func TestWeeklyReportInVM(t *testing.T) {
	if testing.Short() {
		t.Skip("boots VMs")
	}
	local := newAgent(t, buildJoy(t), "weekly-report", "full")
	committed := local.fresh()
	local.lookedAt()
	got := local.report()
	local.samePins(committed)
	checkSales(t, got.Steps["aggregate"].Output.(map[string]any), orders(t))
	require.EqualValues(t, 3, got.Steps["pdf"].Output.(map[string]any)["pages"])
	local.dropped(got)
	local.run("artifact", "get", "look/report.html", "look/summary.html", "look/fonts.txt", "-o", "out")
	checkPages(t, local.file("out/report.html"), 3, "Page 1 of 3", "Net revenue rose 22.4%", "€198,812", "Jackets", "thousand euros", "Czechia")
	checkPages(t, local.file("out/summary.html"), 1, "Sales in brief", "Week 47 of 2026", "€198,812", "Netherlands", "Alder down jacket")
	require.NotContains(t, local.file("out/fonts.txt"), " no ", "a font that is not embedded looks different elsewhere")

	delete(got.Steps, "look")
	t.Run("e2b", func(t *testing.T) {
		remote := newAgent(t, local.joy, "weekly-report", "full")
		remote.atE2B("full")
		remote.dropped(remote.report())
		remote.same(got, "e2b")
	})
	t.Run("kata", func(t *testing.T) {
		remote := newCluster(t).agent(t, "weekly-report", "full")
		remote.dropped(remote.report())
		remote.same(got, "kata")
		remote.leftNothing()
	})
}

// dropped holds that the report lies where the last step puts it, byte for byte, and that the ledger tells how it came to
// be in the order in which it did: the command, the artifact it left, the call that handed it on.
func (a *agent) dropped(got outcome) {
	a.t.Helper()
	stored := got.Steps["pdf"].Artifacts
	require.Len(a.t, stored, 1)
	pdf := a.file("shared/report-" + week + ".pdf")
	require.Equal(a.t, stored[0].SHA256, fmt.Sprintf("%x", sha256.Sum256([]byte(pdf))))
	require.True(a.t, strings.HasPrefix(pdf, "%PDF-"))

	shown := a.run("ledger", "show")
	command := lineOf(a.t, shown, "pdf", "command started", "/skills/print-report/scripts/print.py")
	artifact := lineOf(a.t, shown, "pdf", "artifact stored", "report.pdf")
	call := lineOf(a.t, shown, "drop", "tool requested", "shared.write_file")
	require.Less(a.t, command, artifact)
	require.Less(a.t, artifact, call)
	require.Less(a.t, call, lineOf(a.t, shown, "drop", "tool returned", "shared.write_file"))
	a.run("ledger", "verify")
}

// lookedAt adds the skill testdata/look as a last step.
func (a *agent) lookedAt() {
	a.t.Helper()
	require.NoError(a.t, os.CopyFS(filepath.Join(a.dir, "skills/look"), os.DirFS("testdata/look")))
	spec := a.file("joy.yaml")
	steps, rest, found := strings.Cut(spec, "image: full")
	require.True(a.t, found)
	steps += "  - id: look\n    skill: look\n    with:\n      report: \"${{ steps.pdf.artifacts['report.pdf'] }}\"\n" +
		"      summary: \"${{ steps.summary.artifacts['summary.docx'] }}\"\n    timeout: 10m\nimage: full"
	a.write("joy.yaml", steps+rest)
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
