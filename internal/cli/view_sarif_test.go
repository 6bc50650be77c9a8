package cli

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSarif holds what code scanning asks of a report: every result has a rule that is listed, a level, a relative URI
// and a fingerprint of its own that does not depend on lines.
// (https://docs.github.com/code-security/reference/code-scanning/sarif-support-for-code-scanning)
func TestSarif(t *testing.T) {
	dir := t.TempDir()
	a := newApp(Env{Dir: dir, LookupEnv: func(string) (string, bool) { return "", false }})
	problems := []problem{
		{rule: "JOY-B", level: "error", file: "a b#ü/c:d.md", line: 3, col: 2, text: "x", key: "x"},
		{rule: "JOY-A", level: "warning", file: filepath.Join(dir, "x.md"), line: 3, text: "x", key: "x"},
		{rule: "JOY-A", level: "warning", file: "x.md", line: 9, text: "x", key: "x"},
		{rule: "JOY-A", level: "note", file: "a:b", text: "x", key: "x"},
		{rule: "JOY-A", level: "note", text: "of no file", key: "x"},
	}
	data, err := a.encodeReport("sarif", nil, problems)
	require.NoError(t, err)
	again, err := a.encodeReport("sarif", nil, problems)
	require.NoError(t, err)
	require.Equal(t, string(data), string(again))

	var doc sarif
	require.NoError(t, json.Unmarshal(data, &doc))
	run := doc.Runs[0]
	require.Equal(t, []sarifRule{{"JOY-A"}, {"JOY-B"}}, run.Tool.Driver.Rules)
	prints := map[string]bool{}
	for i, r := range run.Results {
		require.Equal(t, r.Rule, run.Tool.Driver.Rules[r.Index].ID)
		require.Contains(t, []string{"error", "warning", "note"}, r.Level)
		require.False(t, prints[r.Fingerprints["joy/1"]])
		prints[r.Fingerprints["joy/1"]] = true
		for _, l := range r.Locations {
			u, err := url.Parse(l.Physical.Artifact.URI)
			require.NoError(t, err)
			require.False(t, u.IsAbs() || filepath.IsAbs(u.Path), u)
			require.Equal(t, problems[i].line > 0, l.Physical.Region != nil)
		}
	}
	require.Equal(t, "a%20b%23%C3%BC/c:d.md", run.Results[0].Locations[0].Physical.Artifact.URI)
	require.Equal(t, "./a:b", run.Results[3].Locations[0].Physical.Artifact.URI)
	require.Empty(t, run.Results[4].Locations)
	problems[2].line = 12
	moved, err := a.encodeReport("sarif", nil, problems)
	require.NoError(t, err)
	require.Contains(t, string(moved), run.Results[2].Fingerprints["joy/1"])
}
