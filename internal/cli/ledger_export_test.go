package cli

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/export"
	"github.com/joystream-ai/joy/internal/notekey"
)

// atTheAuthors is an app on the machine that sealed the vectors, in a directory with copy.jsonl and seal.note.
func atTheAuthors(t *testing.T) (a *app, out, errs *bytes.Buffer) {
	t.Helper()
	a, out, errs = testApp(t)
	require.NoError(t, a.execute(t.Context(), []string{"version"})) // reads the settings
	out.Reset()
	sum := sha256.Sum256([]byte("acme")) // as the vectors are made
	_, err := notekey.Workspace.New(a.workspaceKeyFile("acme"), "acme", bytes.NewReader(sum[:]))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "copy.jsonl"), vector(t, "sealed.jsonl"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "seal.note"), vector(t, "sealed.note"), 0o600))
	return a, out, errs
}

// The key that joy ledger key prints in PEM verifies what joy ledger export signs, without any of joy's code.
func TestExportIsSignedWithThePrintedKey(t *testing.T) {
	a, out, _ := atTheAuthors(t)
	require.NoError(t, a.execute(t.Context(), []string{"ledger", "key", "acme", "--pem"}))
	block, rest := pem.Decode(out.Bytes())
	require.Empty(t, rest)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)

	out.Reset()
	require.NoError(t, a.execute(t.Context(), []string{"ledger", "export", "copy.jsonl", "--format", "in-toto"}))
	var env struct {
		PayloadType, Payload string
		Signatures           []struct{ Sig string }
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &env))
	payload, err := base64.StdEncoding.DecodeString(env.Payload)
	require.NoError(t, err)
	sig, err := base64.StdEncoding.DecodeString(env.Signatures[0].Sig)
	require.NoError(t, err)
	signed := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(env.PayloadType), env.PayloadType, len(payload), payload)
	require.True(t, ed25519.Verify(key.(ed25519.PublicKey), signed, sig))
	signed[len(signed)-1] ^= 1
	require.False(t, ed25519.Verify(key.(ed25519.PublicKey), signed, sig))
}

// Whatever a vector is, what is exported of it says so; nothing is printed of a broken one.
func TestExportOfEveryVector(t *testing.T) {
	var list []struct {
		Name, Ledger, Seal, Key, State, Proof string
		Head                                  string `json:"given_head"`
	}
	require.NoError(t, json.Unmarshal(vector(t, "vectors.json"), &list))
	seen := map[string]int{}
	for _, v := range list {
		if v.Proof != "" || v.Key != "" || v.Head != "" {
			continue
		}
		a, out, errs := atTheAuthors(t)
		require.NoError(t, os.Remove(filepath.Join(a.dir, "seal.note")))
		require.NoError(t, os.WriteFile(filepath.Join(a.dir, "v.jsonl"), vector(t, v.Ledger), 0o600))
		if v.Seal != "" {
			require.NoError(t, os.WriteFile(filepath.Join(a.dir, "seal.note"), vector(t, v.Seal), 0o600))
		}
		for _, format := range export.Names() {
			out.Reset()
			errs.Reset()
			code := exitCode(a.execute(t.Context(), []string{"ledger", "export", "v.jsonl", "--format", format}))
			seen[v.State+" "+format]++
			switch {
			case v.State == "broken", v.State == "incomplete" && format == "in-toto":
				require.Equal(t, 7, code, "%s as %s", v.Name, format)
				require.Empty(t, out.String(), "%s as %s", v.Name, format)
			case v.State == "incomplete":
				require.Zero(t, code, "%s as %s", v.Name, format)
				require.Contains(t, errs.String(), "the ledger is incomplete", "%s as %s", v.Name, format)
			case format != "in-toto":
				require.Zero(t, code, "%s as %s", v.Name, format)
				require.Empty(t, errs.String(), "%s as %s", v.Name, format)
			}
		}
	}
	for _, want := range []string{"broken csv", "broken in-toto", "incomplete otlp", "incomplete in-toto", "complete csv"} {
		require.NotZero(t, seen[want], want)
	}
}

func TestExportRefusesAnotherKey(t *testing.T) {
	a, out, _ := atTheAuthors(t)
	path := a.workspaceKeyFile("acme")
	require.NoError(t, os.Remove(path))
	_, err := notekey.Workspace.New(path, "acme", bytes.NewReader(make([]byte, 32)))
	require.NoError(t, err)
	err = a.execute(t.Context(), []string{"ledger", "export", "copy.jsonl", "--format", "in-toto"})
	require.Equal(t, 4, exitCode(err))
	require.ErrorContains(t, err, "the key that sealed the ledger is not on this machine")
	require.Empty(t, out.String())
}

func TestExportWritesAFileOrNone(t *testing.T) {
	a, out, _ := atTheAuthors(t)
	run := func(args ...string) int {
		out.Reset()
		return exitCode(a.execute(t.Context(), append([]string{"ledger", "export", "copy.jsonl"}, args...)))
	}
	require.Zero(t, run("--format", "csv", "-o", "run.csv"))
	require.Contains(t, out.String(), "run.csv tells run 20261124-180300-k3fq2a as csv")
	require.Zero(t, run("--format", "csv", "-o", "-"))
	written, err := os.ReadFile(filepath.Join(a.dir, "run.csv"))
	require.NoError(t, err)
	require.Equal(t, string(written), out.String())

	require.Equal(t, 2, run("--format", "csv", "-o", "no/such/dir.csv"))
	require.NoError(t, os.Mkdir(filepath.Join(a.dir, "dir"), 0o700))
	require.Equal(t, 2, run("--format", "csv", "-o", "dir"), "it is not replaced")
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "copy.jsonl"), vector(t, "edited.jsonl"), 0o600))
	require.Equal(t, 7, run("--format", "csv", "-o", "run.csv"))
	again, err := os.ReadFile(filepath.Join(a.dir, "run.csv"))
	require.NoError(t, err)
	require.Equal(t, written, again, "as it was")
	left, err := filepath.Glob(filepath.Join(a.dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
