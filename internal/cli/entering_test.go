//go:build linux

package cli

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// githubToken has the shape of one. It is made here so that no scanner takes this file for a leak.
var githubToken = "gh" + "p_" + strings.Repeat("A1b2C3d4E5f6", 3)

// adviser is a trusted project whose model has a key that joy knows, and which needs no VM. met counts who came to the server.
func adviser(t *testing.T, more string) *checkout {
	t.Helper()
	c, url := newCheckout(t, "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	c.write("joy.yaml", fmt.Sprintf(`version: 1
name: adviser
skills: [skills/advise]
model: {provider: anthropic, name: m, base_url: %q, key: "secret:theirs"}
inputs:
  type: object
  properties:
    topic: {type: string}
    pin: {type: string, x-joy-secret: true, maxLength: 60}
    sheet: {type: string, format: file}
steps: [{id: advise, skill: advise, with: {topic: "${{ inputs.topic }}", sheet: "${{ inputs.sheet }}", pin: "${{ inputs.pin }}"}}]
%s`, url, more))
	c.write("skills/advise/SKILL.md", "---\nname: advise\ndescription: Answers in one sentence.\n---\nAnswer kindly.\n")
	c.vars["JOY_SECRET_THEIRS"] = hostileCanary
	require.Equal(t, 4, c.joy("trust", "--json"), "nobody is there to say yes")
	var doc struct{ Digest string }
	require.NoError(t, json.Unmarshal(c.out.Bytes(), &doc))
	c.vars["JOY_TRUST"] = doc.Digest
	return c
}

func zipped(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

// refused runs joy and holds that it was refused before anything was sent or recorded, and that the value is not said.
func (c *checkout) refused(t *testing.T, code int, value string, args ...string) string {
	t.Helper()
	before := c.met.Load()
	require.Equal(t, code, c.joy(append([]string{"run"}, args...)...), c.out.String())
	require.Equal(t, before, c.met.Load(), "the server was contacted")
	require.NotContains(t, c.out.String(), value)
	runs, _ := filepath.Glob(filepath.Join(c.env.Dir, ".joy", "runs", "*"))
	require.Empty(t, runs)
	return c.out.String()
}

// keeping lists the objects of the project that hold a value.
func (c *checkout) keeping(value string) (list []string) {
	c.t.Helper()
	require.NoError(c.t, filepath.WalkDir(filepath.Join(c.env.Dir, ".joy", "objects"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if bytes.Contains(body, []byte(value)) {
			list = append(list, path)
		}
		return err
	}))
	return list
}

// A value that joy knows goes into no VM and to no model, whatever the plan accepts.
func TestAKnownValueIsRefused(t *testing.T) {
	c := adviser(t, "allow: [{rule: JOY-SECRET, file: in/sheet, reason: a test}, {rule: JOY-SECRET, file: in/topic, reason: a test}]\n")
	require.Zero(t, c.joy("build"), c.out.String())
	c.write("sheet.txt", "a\nb "+hostileCanary+"\n")
	c.write("sheet.zip", zipped(t, "a/b.txt", hostileCanary))
	for name, args := range map[string][]string{
		"an input":           {"--input", "topic=tea, " + hostileCanary},
		"a secret input":     {"--input", "pin=" + hostileCanary},
		"backwards":          {"--input", "topic=resu-eht-fo-e7a9c1f5-yranac"},
		"a file":             {"--input", "sheet=@sheet.txt"},
		"a file in a file":   {"--input", "sheet=@sheet.zip"},
		"a file and a topic": {"--input", "topic=tea", "--input", "sheet=@sheet.zip"},
	} {
		t.Run(name, func(t *testing.T) {
			said := c.refused(t, 5, hostileCanary, args...)
			require.Contains(t, said, "holds the value of secret:theirs")
		})
	}
	require.Empty(t, c.keeping(hostileCanary), "a file that is refused is not kept")
	t.Run("a bundle", func(t *testing.T) {
		c.write("skills/advise/a.txt", hostileCanary)
		require.Zero(t, c.joy("build"), c.out.String())
		require.Contains(t, c.refused(t, 5, hostileCanary), "skills/advise/a.txt holds the value of secret:theirs")
		require.NoError(t, os.Remove(filepath.Join(c.env.Dir, "skills/advise/a.txt")))
	})
	t.Run("a constant", func(t *testing.T) {
		spec, err := os.ReadFile(filepath.Join(c.env.Dir, "joy.yaml"))
		require.NoError(t, err)
		c.write("joy.yaml", strings.Replace(string(spec), "${{ inputs.topic }}", hostileCanary, 1))
		require.Zero(t, c.joy("build"), c.out.String())
		require.Contains(t, c.refused(t, 5, hostileCanary), "what joy.yaml gives the step advise holds")
	})
}

// What has the shape of a credential is refused, unless the input is marked or the plan accepts it.
func TestAShapeInAnInput(t *testing.T) {
	c := adviser(t, "")
	require.Zero(t, c.joy("build"), c.out.String())
	c.write("sheet.txt", "a\nb "+githubToken+"\n")
	c.write("sheet.zip", zipped(t, "a/b.txt", githubToken))
	for name, want := range map[string]string{
		"topic=use " + githubToken: "the input topic has a credential in it, by the rule github-pat",
		"sheet=@sheet.txt":         "(sheet.txt:2:3)",
		"sheet=@sheet.zip":         "(sheet.zip)",
	} {
		said := c.refused(t, 2, githubToken, "--input", name)
		require.Contains(t, said, want)
		require.Contains(t, said, "x-joy-secret: true; or in joy.yaml: allow: [{rule: github-pat, file: in/")
	}
	said := c.refused(t, 2, githubToken, "--json", "--input", "topic="+githubToken)
	require.Contains(t, said, `"code": "JOY-SECRET"`)

	require.Empty(t, c.keeping(githubToken))

	met := c.met.Load()
	require.NotZero(t, c.joy("run", "--input", "pin="+githubToken)) // the model's server is none
	require.Greater(t, c.met.Load(), met, "a marked input goes in")
	require.NotContains(t, c.out.String(), githubToken)

	c = adviser(t, "allow: [{rule: github-pat, file: in/topic, reason: a test}, {rule: JOY-SECRET, file: in/sheet, reason: a test}]\n")
	require.Zero(t, c.joy("build"), c.out.String())
	c.write("sheet.txt", githubToken)
	c.joy("run", "--input", "topic="+githubToken, "--input", "sheet=@sheet.txt")
	require.Positive(t, c.met.Load(), "%s", c.out.String())
	require.NotContains(t, c.out.String(), githubToken)
}

// A dry run shows what a run would get, and no credential; complaints about an input quote none either.
func TestSimulateShowsNoCredential(t *testing.T) {
	c := adviser(t, "")
	require.Zero(t, c.joy("build"), c.out.String())
	for _, args := range [][]string{{}, {"--json"}} {
		args = append([]string{"simulate", "--input", "topic=" + githubToken, "--input", "pin=" + hostileCanary}, args...)
		require.Zero(t, c.joy(args...), c.out.String())
		require.NotContains(t, c.out.String(), githubToken)
		require.NotContains(t, c.out.String(), hostileCanary)
		require.Contains(t, c.out.String(), "[REDACTED:github-pat]")
		require.Contains(t, c.out.String(), "[REDACTED:input-pin]")
	}
	long := hostileCanary + hostileCanary + hostileCanary
	require.Equal(t, 2, c.joy("simulate", "--input", "pin="+long))
	require.NotContains(t, c.out.String(), hostileCanary)
}
