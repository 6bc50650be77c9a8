package runner

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// shaped looks like a token of GitHub. It is made here, so that nobody who scans this file finds one.
var shaped = "gh" + "p_" + strings.Repeat("A1b2C3d4E5f6", 3)

func zipOf(t testing.TB, name, body string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	require.NoError(t, err)
	_, err = io.WriteString(w, body)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

func gzOf(t testing.TB, body string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, body)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func docxOf(t testing.TB, text string) string {
	half := len(text) / 2
	return zipOf(t, "word/document.xml", `<w:p><w:r><w:t>`+text[:half]+`</w:t></w:r><w:r><w:t>`+text[half:]+`</w:t></w:r></w:p>`)
}

func pdfOf(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := io.WriteString(w, "BT ("+text[:9]+") Tj ("+text[9:]+") Tj ET")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return "%PDF-1.7\n1 0 obj\n<< /Filter /FlateDecode >>\nstream\n" + b.String() + "\nendstream\nendobj\n%%EOF\n"
}

// What nobody told joy of and has the shape of a credential is kept nowhere, whatever it lies in, and the run goes on.
func TestAShapeIsKeptNowhere(t *testing.T) {
	for name, tc := range map[string]struct {
		leak func(t *testing.T, s *scene)
		typ  string // of the entry that tells of it
		in   string
	}{
		"printed":           {func(_ *testing.T, s *scene) { s.print("t=" + shaped + "\n") }, "scrub.found", "stdout"},
		"printed in halves": {func(_ *testing.T, s *scene) { s.print("t=" + shaped[:9]); s.print(shaped[9:] + "\n") }, "scrub.found", "stdout"},
		"in its result":     {func(_ *testing.T, s *scene) { s.print(`{"t":"` + shaped + `"}` + "\n") }, "scrub.found", "stdout"},
		"in text":           {func(_ *testing.T, s *scene) { s.keep("a.txt", "t="+shaped) }, "scrub.found", "a.txt"},
		"in bytes":          {func(_ *testing.T, s *scene) { s.keep("a", "\x00t="+shaped+"\x00") }, "artifact.quarantined", "a"},
		"in a name":         {func(_ *testing.T, s *scene) { s.keep(shaped, "x") }, "artifact.quarantined", "[REDACTED:github-pat]"},
		"in zip":            {func(t *testing.T, s *scene) { s.keep("a.zip", zipOf(t, "b", shaped)) }, "artifact.quarantined", "a.zip"},
		"in gzip":           {func(t *testing.T, s *scene) { s.keep("a.gz", gzOf(t, shaped)) }, "artifact.quarantined", "a.gz"},
		"in docx, in runs":  {func(t *testing.T, s *scene) { s.keep("a.docx", docxOf(t, shaped)) }, "artifact.quarantined", "a.docx"},
		"in xlsx": {func(t *testing.T, s *scene) {
			s.keep("a.xlsx", zipOf(t, "xl/sharedStrings.xml", "<si><t>"+shaped+"</t></si>"))
		}, "artifact.quarantined", "a.xlsx"},
		"in pdf, in pieces": {func(t *testing.T, s *scene) { s.keep("a.pdf", pdfOf(t, shaped)) }, "artifact.quarantined", "a.pdf"},
		"in pdf, plainly":   {func(_ *testing.T, s *scene) { s.keep("a.pdf", "%PDF-1.7\n("+shaped+") Tj\n%%EOF") }, "artifact.quarantined", "a.pdf"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"), script("b", "a"))
			r.on("a", func(s *scene) (sandbox.Result, error) {
				tc.leak(t, s)
				s.print("{}")
				return sandbox.Result{}, nil
			})
			require.Equal(t, Succeeded, r.finished(t).Status)
			r.requireNowhere(t, shaped)
			e := r.one(t, tc.typ)
			require.Equal(t, "github-pat", e.String("rule"))
			require.Empty(t, e.String("secret"))
			require.Equal(t, tc.in, e.String(map[string]string{"scrub.found": "in", "artifact.quarantined": "name"}[tc.typ]))
			if name != "in a name" {
				require.Regexp(t, "^hmac-sha256:[0-9a-f]{64}$", e.String("hmac"))
			}
		})
	}
}

// A connection's credential ends the run from within a document too.
func TestACredentialInADocumentEndsTheRun(t *testing.T) {
	for name, file := range map[string]string{
		"a.zip": zipOf(t, "b", canary), "a.docx": docxOf(t, canary), "a.pdf": pdfOf(t, canary), "a.tgz": gzOf(t, canary),
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := crm(t, says(`{}`), telling("tell"))
			r.Plan.Allow = []plan.Allow{{Rule: "crm-key", File: "out/" + name}, {Rule: "generic-api-key", File: "out/" + name}}
			r.leaves("tell", outFile{name: name, body: file})
			out := r.finished(t)
			require.Equal(t, fault.Policy, out.Failure.Kind)
			require.ErrorContains(t, out.Failure.Err, "the secret crm-key is in an artifact")
			require.Equal(t, "crm-key", r.one(t, "artifact.quarantined").String("secret"), "no entry of allow accepts it")
			r.requireNowhere(t, canary)
		})
	}
}

// The plan accepts a rule in one artifact, and nothing else.
func TestAllow(t *testing.T) {
	r := newRig(t, script("a"))
	r.Plan.Allow = []plan.Allow{{Rule: "github-pat", File: "out/b/ok.zip"}, {Rule: "github-pat", File: "out/ok.txt"}, {Rule: "jwt", File: "out/no.txt"}}
	r.leaves("a", outFile{name: "b/ok.zip", body: zipOf(t, "x", shaped)}, outFile{name: "ok.zip", body: zipOf(t, "x", shaped)},
		outFile{name: "ok.txt", body: shaped}, outFile{name: "no.txt", body: shaped})
	out := r.finished(t)
	var kept []string
	for _, a := range out.step("a").Artifacts {
		kept = append(kept, a.Name)
	}
	require.Equal(t, []string{"b/ok.zip", "no.txt", "ok.txt"}, kept)
	require.Equal(t, "ok.zip", r.one(t, "artifact.quarantined").String("name"))
	require.Equal(t, "no.txt", r.one(t, "scrub.found").String("in"))
}

// What is too large to look into is kept out, unless the plan accepts that; what cannot be read is said.
func TestWhatIsNotLookedInto(t *testing.T) {
	bomb := gzOf(t, strings.Repeat("\x00", 80<<20))
	for name, tc := range map[string]struct {
		body   string
		allow  string
		kept   bool
		reason string
	}{
		"a bomb":          {bomb, "", false, "not looked into: it unpacks to more than"},
		"accepted":        {bomb, plan.RuleUnread, true, "not looked into: it unpacks to more than"},
		"a broken gzip":   {gzOf(t, "hello")[:20], "", true, "the gzip is broken"},
		"nothing special": {"\x00\x01", "", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"))
			r.Plan.Allow = []plan.Allow{{Rule: tc.allow, File: "out/f"}}
			r.leaves("a", outFile{name: "f", body: tc.body})
			out := r.finished(t)
			require.Len(t, out.step("a").Artifacts, map[bool]int{true: 1}[tc.kept])
			if !tc.kept {
				require.Contains(t, r.one(t, "artifact.quarantined").String("reason"), tc.reason)
				return
			}
			unread, _ := r.one(t, "artifact.stored").Data["unread"].([]any)
			if tc.reason == "" {
				require.Empty(t, unread)
				return
			}
			require.Contains(t, unread[0], tc.reason)
		})
	}
}

// What a tool answers is scrubbed before a step, or the record, gets it.
func TestAnAnswerIsScrubbed(t *testing.T) {
	r, _ := crm(t, says(`{"content":[{"type":"text","text":"key `+shaped+` and `+"hunter2-hunter2"+`"}]}`), telling("tell"), act("fetch", "look", `{}`))
	require.NoError(t, r.Secrets.Add("input-pin", []byte("hunter2-hunter2")))
	var answer string
	r.on("tell", func(s *scene) (sandbox.Result, error) {
		answer = s.post("crm.put", `{"body":1}`)
		s.print("{}")
		return sandbox.Result{}, nil
	})
	out := r.finished(t)
	require.Equal(t, Succeeded, out.Status)
	require.Contains(t, answer, "key [REDACTED:github-pat] and [REDACTED:input-pin]")
	require.Contains(t, string(asJSON(t, out.step("fetch").Output)), "[REDACTED:github-pat] and [REDACTED:input-pin]")
	r.requireNowhere(t, shaped)
	told := map[string]int{}
	for _, e := range r.all("scrub.found") {
		told[e.String("in")+" "+e.String("rule")+e.String("secret")]++
	}
	require.Equal(t, map[string]int{"crm.put github-pat": 1, "crm.put input-pin": 1, "crm.look github-pat": 1, "crm.look input-pin": 1}, told)
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := marshal(v)
	require.NoError(t, err)
	return b
}
