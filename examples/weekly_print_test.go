//go:build unix

package examples_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

func TestPrintWithoutItsFilesFails(t *testing.T) {
	for name, tt := range map[string]struct{ image, want string }{
		"no such drawing":     {"in/none.svg", "No such file"},
		"a directory":         {"in", "Is a directory"},
		"a name with no path": {"", "No such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, weekly+"print-report")
			report := w.File(t, "report.md", []byte("# A\n\nb\n"))
			result := w.Run(t, map[string]any{"report": report, "images": []string{tt.image}, "date": "2026-11-22"})
			require.Equal(t, 1, result.Exit)
			require.Contains(t, result.Stderr, "printing the report: ")
			require.Contains(t, result.Stderr, tt.want)
			require.NotContains(t, result.Stderr, "Traceback")
		})
	}
}

// settled gives a PDF to the module that takes out what differs between two conversions.
func settled(t *testing.T, pdf string) (string, error) {
	t.Helper()
	const script = "import sys; sys.path.insert(0, sys.argv[1]); import settle; " +
		"sys.stdout.buffer.write(settle.pdf(sys.stdin.buffer.read(), '2026-11-22'))"
	cmd := exec.CommandContext(t.Context(), "python3", "-B", "-c", script, weekly+"print-report/scripts")
	cmd.Stdin = strings.NewReader(pdf)
	out, err := cmd.Output()
	return string(out), err
}

// ending is a PDF as LibreOffice 7.4 ends it.
func ending(date, id, sum string) string {
	return fmt.Sprintf("%%PDF-1.6\nbody\xff\n/CreationDate(D:%s)>>\ntrailer\n<</Size 9\n/ID [ <%s>\n<%s> ]\n/DocChecksum /%s\n>>\n%%%%EOF\n", date, id, id, sum)
}

func TestConversionsOfOneDocumentBecomeEqual(t *testing.T) {
	a, b := strings.Repeat("0A", 16), strings.Repeat("F1", 16)
	pdf := ending("20261129202452Z'", a, b)
	first, err := settled(t, pdf)
	require.NoError(t, err)
	require.Len(t, first, len(pdf), "a byte more or less, and every offset is wrong")
	require.Contains(t, first, "D:20261122120000Z'")
	second, err := settled(t, ending("20270101000000Z'", b, a))
	require.NoError(t, err)
	require.Equal(t, first, second)
	other, err := settled(t, strings.Replace(pdf, "body", "Body", 1))
	require.NoError(t, err)
	require.NotEqual(t, strings.Replace(first, "body", "Body", 1), other, "another document has another identifier")
}

func TestPDFOfAnotherKindIsRefused(t *testing.T) {
	a := strings.Repeat("0A", 16)
	good := ending("20261129202452Z'", a, a)
	for name, pdf := range map[string]string{
		"empty":          "",
		"no date":        strings.Replace(good, "/CreationDate", "/Made", 1),
		"two dates":      good + "/CreationDate(D:20261129202452Z')",
		"date of a form": strings.Replace(good, "20261129202452Z'", "2026", 1),
		"no identifier":  strings.Replace(good, "/ID [", "/IX [", 1),
		"short":          strings.ReplaceAll(good, a, a[:30]),
		"two checksums":  good + "/DocChecksum /" + a,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := settled(t, pdf)
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed)
			require.Contains(t, string(failed.Stderr), "where one of each is known")
		})
	}
}
