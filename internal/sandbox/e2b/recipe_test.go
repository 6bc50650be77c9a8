//go:build linux

package e2b

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/nodetest"
	"github.com/joystream-ai/joy/internal/policy"
)

// builder answers as E2B's API does to who builds a template, and keeps what it was asked for.
type builder struct {
	t    *testing.T
	said map[string]map[string]any // by path
}

func (b *builder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answers := map[string]string{
		"POST /v3/templates":                 `{"templateID":"t1","buildID":"b1","public":false,"names":["joy-full"],"aliases":["joy-full"],"tags":[]}`,
		"POST /v2/templates/t1/builds/b1":    `{}`,
		"GET /templates/t1/builds/b1/status": `{"templateID":"t1","buildID":"b1","status":"ready","logs":[],"logEntries":[]}`,
	}
	answer, known := answers[r.Method+" "+r.URL.Path]
	body, err := io.ReadAll(r.Body)
	if !known || err != nil || r.Header.Get("X-API-Key") != testRecipeKey {
		b.t.Errorf("%s %s, with the key %q: %v", r.Method, r.URL.Path, r.Header.Get("X-API-Key"), err)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.Method == http.MethodPost {
		said := map[string]any{}
		if err := json.Unmarshal(body, &said); err != nil {
			b.t.Errorf("%s: %v", body, err)
		}
		b.said[r.URL.Path] = said
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	_, _ = io.WriteString(w, answer)
}

const testRecipeKey = "e2b_0123456789abcdef0123456789abcdef01234567"

// The recipe of docs/e2b.md, with the official SDK, asks for a template of the image that a plan fits in which says nothing
// of its VM.
func TestRecipe(t *testing.T) {
	page, err := os.ReadFile("../../../docs/e2b.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "```js\n")
	require.True(t, found)
	script, _, found := strings.Cut(after, "```\n")
	require.True(t, found)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "template.mjs"), []byte(script), 0o600))
	require.NoError(t, os.Symlink(nodetest.Modules(t), filepath.Join(dir, "node_modules")))
	usual := policy.Default()
	for name, login := range map[string][]string{"public": nil, "with a login": {"REGISTRY_USER=anne", "REGISTRY_PASSWORD=canary"}} {
		t.Run(name, func(t *testing.T) {
			b := &builder{t, map[string]map[string]any{}}
			server := httptest.NewServer(b)
			defer server.Close()
			cmd := exec.CommandContext(t.Context(), nodetest.Node(t), "template.mjs")
			cmd.Dir = dir
			cmd.Env = append(login, "E2B_API_URL="+server.URL, "E2B_API_KEY="+testRecipeKey, "IMAGE=registry.example.com/acme/joy-full:1", "TEMPLATE=joy-full")
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			require.NoError(t, err, said.String())
			require.Equal(t, "t1 b1\n", string(out))
			asked, built := b.said["/v3/templates"], b.said["/v2/templates/t1/builds/b1"]
			require.Equal(t, "joy-full", asked["name"])
			require.EqualValues(t, usual.CPUs, asked["cpuCount"])
			require.EqualValues(t, usual.Memory>>20, asked["memoryMB"])
			require.EqualValues(t, usual.Disk>>20, asked["minFreeDiskMb"])
			require.Equal(t, "registry.example.com/acme/joy-full:1", built["fromImage"])
			if login == nil {
				require.Nil(t, built["fromImageRegistry"])
				return
			}
			require.Equal(t, map[string]any{"type": "registry", "username": "anne", "password": "canary"}, built["fromImageRegistry"])
		})
	}
}
