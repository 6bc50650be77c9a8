//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// joy check --ready and joy doctor ask whether the model answers, with the key and without spending a token.
func TestModelReady(t *testing.T) {
	for provider := range wires {
		t.Run(provider, func(t *testing.T) {
			b, s := words(t, provider, modeltest.Script(titled), "")
			code, stdout, stderr := b.run("check", "--ready")
			require.Zero(t, code, "%s%s", stdout, stderr)
			require.Regexp(t, `ok +model +http://127\.0\.0\.1:\d+(/v1)? answers, and has test-1; nothing was spent`, stdout)
			_, stdout, stderr = b.run("doctor")
			require.Regexp(t, `ok +model +http://127\.0\.0\.1:\d+(/v1)? answers, and has test-1; nothing was spent`, stdout, stderr)
			require.Empty(t, s.Requests(), "no turn was asked for")
			for i, v := range b.env {
				if strings.HasPrefix(v, "JOY_SECRET_VENDOR=") {
					b.env[i] = "JOY_SECRET_VENDOR=canary-of-a-wrong-key"
				}
			}
			code, stdout, stderr = b.run("check", "--ready")
			require.Equal(t, 4, code, "%s%s", stdout, stderr)
			require.Contains(t, stdout, "refused the key (401)")
			require.Contains(t, stdout, "joy secret set")
			require.NotContains(t, stdout+stderr, "canary")
			code, stdout, stderr = b.run("doctor")
			require.Equal(t, 6, code, "%s%s", stdout, stderr)
			require.Regexp(t, `fail +model +.*refused the key \(401\)`, stdout)
			require.NotContains(t, stdout+stderr, "canary")

			spec, err := os.ReadFile(filepath.Join(b.dir, "joy.yaml"))
			require.NoError(t, err)
			b.write("joy.yaml", string(spec)+"# another file\n")
			_, stdout, _ = b.run("doctor")
			require.Regexp(t, `warn +model +`+provider+`/test-1 was not asked whether it answers: joy.yaml`, stdout, "the lock is of another joy.yaml")
		})
	}
}

// What else may answer at the address, or not, is told apart. The key goes nowhere else.
func TestModelNotReady(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		code   int
		says   string
	}{
		"no such page":    {func(w http.ResponseWriter) { w.WriteHeader(404) }, 0, "does not list its models"},
		"a web page":      {func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) }, 0, "does not list its models"},
		"another model":   {func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"data":[{"id":"x"}]}`)) }, 0, "does not list test-1"},
		"it is down":      {func(w http.ResponseWriter) { w.WriteHeader(503) }, 1, "answered 503"},
		"it is too much":  {func(w http.ResponseWriter) { w.WriteHeader(429) }, 1, "takes no more requests now"},
		"another address": {func(w http.ResponseWriter) { w.Header().Set("Location", other.URL); w.WriteHeader(302) }, 1, "another address (302)"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked++; c.answer(w) }))
			defer stranger.Close()
			b := newProject(t, map[string]string{
				"skills/title/SKILL.md": titleSkill,
				"joy.yaml": "version: 1\nname: words\nimage: tiny\nskills: [skills/title]\n" +
					"model: {provider: openai, name: test-1, key: \"secret:vendor\", base_url: \"" + stranger.URL + "/v1\"}\n",
			})
			b.env = append(b.env, "JOY_SECRET_VENDOR="+modeltest.Key)
			code, _, stderr := b.run("build")
			require.Zero(t, code, stderr)
			code, stdout, stderr := b.run("check", "--ready")
			require.Equal(t, 4, code, "%s%s", stdout, stderr)
			require.NotContains(t, stdout, "model  ", "nobody is asked before the project is trusted")
			_, stdout, _ = b.run("doctor")
			require.Contains(t, stdout, "openai/test-1 was not asked whether it answers: joy.yaml: nobody has allowed yet")
			require.Zero(t, asked, "nor by joy doctor")
			b.allow()
			code, stdout, stderr = b.run("check", "--ready")
			require.Equal(t, c.code, code, "%s%s", stdout, stderr)
			require.Contains(t, stdout, c.says)
		})
	}
	require.Zero(t, elsewhere)
}
