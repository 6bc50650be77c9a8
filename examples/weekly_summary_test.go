//go:build unix

package examples_test

import (
	packed "archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

const template = weekly + "fill-summary/templates/summary.docx"

// parts are the files of a .docx in their order, and their content.
func parts(t *testing.T, data []byte) (names []string, content map[string]string) {
	t.Helper()
	r, err := packed.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	content = map[string]string{}
	for _, f := range r.File {
		require.Equal(t, 1980, f.Modified.Year(), "%s bears the time of its making", f.Name)
		opened, err := f.Open()
		require.NoError(t, err)
		body, err := io.ReadAll(opened)
		require.NoError(t, err)
		names, content[f.Name] = append(names, f.Name), string(body)
	}
	return names, content
}

// words are the texts of a part, a line for each paragraph. It requires that the part is XML.
func words(t *testing.T, part string) []string {
	t.Helper()
	var lines []string
	var line strings.Builder
	inside := false
	decoder := xml.NewDecoder(strings.NewReader(part))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return lines
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "t"
		case xml.CharData:
			if inside {
				line.Write(token)
			}
		case xml.EndElement:
			inside = false
			if token.Name.Local == "p" {
				lines = append(lines, line.String())
				line.Reset()
			}
		}
	}
}

func TestSummaryIsFilled(t *testing.T) {
	result, w := step(t, "fill-summary", sales(t))
	require.Equal(t, 0, result.Exit, result.Stderr)
	before, err := os.ReadFile(template)
	require.NoError(t, err)
	names, _ := parts(t, before)
	filled, content := parts(t, []byte(w.Out(t, "summary.docx")))
	require.Equal(t, names, filled)
	for name, part := range content {
		require.NotContains(t, part, "{{", name)
	}
	text := words(t, content["word/document.xml"])
	require.Contains(t, text, "Week 47 of 2026 · 16–22 November 2026")
	// The headline's placeholder lies in three runs, as Word leaves it behind.
	require.Contains(t, text, "Net revenue rose 22.4% on the week before, to €198,812. It is 35.9% above the same week a year ago.")
	for _, cell := range []string{"Average order", "€211.28", "Netherlands", "€21,937", "Alder down jacket", "+€19,874"} {
		require.Contains(t, text, cell)
	}
	require.Contains(t, content["docProps/core.xml"], "2026-11-22T12:00:00Z")

	again, v := step(t, "fill-summary", sales(t))
	require.Equal(t, result.Value, again.Value)
	require.Equal(t, w.Out(t, "summary.docx"), v.Out(t, "summary.docx"))
}

func TestValuesAreText(t *testing.T) {
	figures := sales(t)
	evil := `</w:t> & <b> {{headline}} ]]>` + "\x00\ufffe"
	figures["countries"].([]any)[0].(map[string]any)["name"] = evil
	result, w := step(t, "fill-summary", figures)
	require.Equal(t, 0, result.Exit, result.Stderr)
	_, content := parts(t, []byte(w.Out(t, "summary.docx")))
	require.Contains(t, words(t, content["word/document.xml"]), `</w:t> & <b> {{headline}} ]]>??`)
}

// fillWith fills a template whose body is the given one, and returns the paragraphs of the result.
func fillWith(t *testing.T, body string) (worldtest.Result, []string) {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "fill-summary")
	require.NoError(t, os.CopyFS(bundle, os.DirFS(weekly+"fill-summary")))
	var data bytes.Buffer
	z := packed.NewWriter(&data)
	f, err := z.Create("word/document.xml")
	require.NoError(t, err)
	_, err = f.Write([]byte(`<w:document xmlns:w="urn:w"><w:body>` + body + `</w:body></w:document>`))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(filepath.Join(bundle, "templates", "summary.docx"), data.Bytes(), 0o600))
	w := worldtest.New(t, bundle)
	result := w.Run(t, map[string]any{"sales": sales(t)})
	if result.Exit != 0 {
		return result, nil
	}
	_, content := parts(t, []byte(w.Out(t, "summary.docx")))
	return result, words(t, content["word/document.xml"])
}

// para is a paragraph of runs.
func para(runs ...string) string {
	return "<w:p><w:r><w:t>" + strings.Join(runs, "</w:t></w:r><w:proofErr/><w:r><w:t>") + "</w:t></w:r></w:p>"
}

func row(cells ...string) string {
	return "<w:tr><w:tc>" + strings.Join(cells, "</w:tc><w:tc>") + "</w:tc></w:tr>"
}

func TestTemplates(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want []string
	}{
		"whole":             {para("in {{week}}."), []string{"in Week 47 of 2026."}},
		"blanks inside":     {para("{{ week }}"), []string{"Week 47 of 2026"}},
		"cut anywhere":      {para("a {", "{w", "ee", "k}", "} b"), []string{"a Week 47 of 2026 b"}},
		"two in one run":    {para("{{week}}{{week}}"), []string{"Week 47 of 2026Week 47 of 2026"}},
		"two that share":    {para("{{we", "ek}}, {{last_d", "ay}}"), []string{"Week 47 of 2026, 2026-11-22"}},
		"an empty run":      {para("{{", "", "week}}"), []string{"Week 47 of 2026"}},
		"none":              {para("{ week } }} {"), []string{"{ week } }} {"}},
		"rows of a list":    {"<w:tbl>" + row(para("{{figure.na", "me}}"), para("in {{last_day}}")) + "</w:tbl>", []string{"Net revenue", "in 2026-11-22", "Orders", "in 2026-11-22", "Average order", "in 2026-11-22", "Returned", "in 2026-11-22"}},
		"a row of no list":  {"<w:tbl>" + row(para("{{last_day}}")) + "</w:tbl>", []string{"2026-11-22"}},
		"text box in a par": {"<w:p><w:r><w:t>{{last_day}}</w:t>" + para("{{week}}") + "</w:r></w:p>", []string{"2026-11-22Week 47 of 2026", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, got := fillWith(t, tt.body)
			require.Equal(t, 0, result.Exit, result.Stderr)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestTemplatesThatCannotBeFilled(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"unknown name":        {para("{{headlines}}"), "names 'headlines', which there is no value for; is it 'headline'?"},
		"cut by a paragraph":  {para("{{head") + para("line}}"), "is not closed"},
		"never closed":        {para("{{week"), "is not closed"},
		"name with a sign":    {para("{{week-1}}"), "its name is not plain"},
		"list without a row":  {para("{{product.name}}"), "stands outside of a table row"},
		"list as a text":      {para("{{product}}"), "names 'product'"},
		"text as a list":      {"<w:tbl>" + row(para("{{week.number}}")) + "</w:tbl>", "names 'week'"},
		"two lists in a row":  {"<w:tbl>" + row(para("{{product.name}}"), para("{{country.name}}")) + "</w:tbl>", "names several lists: country, product"},
		"no such field":       {"<w:tbl>" + row(para("{{product.nam}}")) + "</w:tbl>", "is it 'name'?"},
		"XML that is damaged": {"<w:p>", "a part of the template is not XML"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := fillWith(t, tt.body)
			require.Equal(t, 1, result.Exit)
			require.Contains(t, result.Stderr, tt.want)
			require.NotContains(t, result.Stderr, "Traceback")
		})
	}
}
