package cli

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/notekey"
	"github.com/joystream-ai/joy/internal/state"
)

func hashOf(body string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body))) }

// sealText is what a seal of a ledger says, as the page on the format has it.
func sealText(rep verify.Report) string {
	return fmt.Sprintf("joy-ledger/acme/%s\n%d\n%s\nhead %s\nplan %s\n", rep.Run, rep.Entries,
		base64.StdEncoding.EncodeToString(rep.Root[:]), rep.Head, rep.PlanDigest)
}

// A copy is checked on a machine that knows nothing of the run.
func TestVerifyACopy(t *testing.T) {
	a, out, _ := testApp(t)
	write := func(name, vec string) {
		require.NoError(t, os.WriteFile(filepath.Join(a.dir, name), vector(t, vec), 0o600))
	}
	write("copy.jsonl", "sealed.jsonl")
	write("kept.note", "sealed.note")
	key := strings.TrimSpace(publicOf(t, vector(t, "sealed.jsonl")))
	other, err := notekey.Workspace.New(filepath.Join(t.TempDir(), "k"), "acme", rand.Reader)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"alone":            {nil, 7, "its seal is not here"},
		"the seal named":   {[]string{"--seal", "kept.note"}, 0, "self-signed"},
		"a seal not there": {[]string{"--seal", "gone.note"}, 2, "read the seal"},
		"the key":          {[]string{"--seal", "kept.note", "--key", key}, 0, "with the key given"},
		"another key":      {[]string{"--seal", "kept.note", "--key", other.Public.String()}, 7, "not by the key given"},
		"the key alone":    {[]string{"--key", key}, 7, "its seal is not here"},
		"the head alone":   {[]string{"--head", sealedHead}, 0, "the head matches the one given"},
		"another head":     {[]string{"--seal", "kept.note", "--head", "sha256:" + strings.Repeat("0", 64)}, 7, "not the one given"},
		"no key":           {[]string{"--key", "rubbish"}, 2, "not the public key"},
	} {
		out.Reset()
		err := a.execute(t.Context(), append([]string{"ledger", "verify", "copy.jsonl"}, c.args...))
		require.Equal(t, c.code, exitCode(err), "%s: %v", name, err)
		require.Contains(t, out.String()+fmt.Sprint(err), c.want, name)
	}
	write(sealFile, "sealed.note")
	require.NoError(t, a.execute(t.Context(), []string{"ledger", "verify", "copy.jsonl"}))
}

// publicOf is the key that run.sealed names.
func publicOf(t *testing.T, ledger []byte) string {
	t.Helper()
	rep, err := verify.Check(strings.NewReader(string(ledger)), verify.Options{})
	require.NoError(t, err)
	return rep.SealKey
}

// A witness's answer counts when its signature, by a key that came from elsewhere, is under the seal's text.
func TestVerifyWitnessed(t *testing.T) {
	a, out, _, run := sealedProject(t)
	private, public, err := note.GenerateKey(rand.Reader, "witness.example")
	require.NoError(t, err)
	signer, err := note.NewSigner(private)
	require.NoError(t, err)
	text, _, _ := strings.Cut(string(vector(t, "sealed.note")), "\n\n")
	signed, err := note.Sign(&note.Note{Text: text + "\n"}, signer)
	require.NoError(t, err)
	_, signature, _ := strings.Cut(string(signed), "\n\n")
	answer := func(text string) {
		line, err := json.Marshal(witnessed{"2026-11-24T18:03:04.000Z", "https://w.example", "end", sealedRun, 15, sealedHead, text})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(run, witnessFile), append(line, '\n'), 0o600))
	}
	for name, c := range map[string]struct {
		answer string
		keys   []string
		code   int
		want   string
	}{
		"no key":      {signature, nil, 0, "witnessed by https://w.example at 2026-11-24T18:03:04.000Z, as witness.jsonl says: ask it"},
		"its key":     {signature, []string{"--key", public}, 0, "its answer is signed with the key given"},
		"no answer":   {"noted", []string{"--key", public}, 7, "no witness's answer is signed"},
		"another key": {signature, []string{"--key", strings.TrimSpace(publicOf(t, vector(t, "sealed.jsonl"))), "--key", public}, 0, "with the key given"},
	} {
		answer(c.answer)
		out.Reset()
		err := a.execute(t.Context(), append([]string{"ledger", "verify", "latest"}, c.keys...))
		require.Equal(t, c.code, exitCode(err), "%s: %v", name, err)
		require.Contains(t, out.String()+fmt.Sprint(err), c.want, name)
	}
}

func TestVerifyTheWholeProject(t *testing.T) {
	a, out, _, run := sealedProject(t)
	second := "20261124-190000-aaaaaa"
	require.NoError(t, state.OpenIndex(a.cfg.Dirs.State).PutHead(state.Head{Run: second, StateDir: filepath.Join(a.dir, ".joy"), Entries: 3}))
	err := a.execute(t.Context(), []string{"ledger", "verify"})
	require.Equal(t, 7, exitCode(err))
	require.ErrorContains(t, err, "1 of 2 ledgers do not hold")
	require.Equal(t, "run "+second+": missing: its ledger is gone: your index of runs has 3 entries of it\n"+
		"run "+sealedRun+": complete, 15 entries, self-signed, index\n", out.String())

	a.json = true
	out.Reset()
	require.Equal(t, 7, exitCode(a.execute(t.Context(), []string{"ledger", "verify", "--json"})))
	var doc struct {
		Schema string
		Runs   []verifyJSON
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	require.Equal(t, "joy.ledger-verify-all/1", doc.Schema)
	require.Equal(t, []string{"missing", "complete"}, []string{doc.Runs[0].State, doc.Runs[1].State})
	require.True(t, doc.Runs[1].Sealed)
	require.NoError(t, os.RemoveAll(run))
}

// One entry, shown to somebody who has nothing else.
func TestProve(t *testing.T) {
	a, out, _, run := sealedProject(t)
	require.NoError(t, a.execute(t.Context(), []string{"ledger", "prove", "latest", "8", "-o", "proof.json"}))
	require.Equal(t, "proof.json shows entry 8 of run "+sealedRun+"\n", out.String())
	out.Reset()
	require.NoError(t, a.execute(t.Context(), []string{"ledger", "prove", "latest", "8"}))
	written, err := os.ReadFile(filepath.Join(a.dir, "proof.json"))
	require.NoError(t, err)
	require.Equal(t, out.String(), string(written))

	b, out, _ := testApp(t)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "proof.json"), written, 0o600))
	require.NoError(t, b.execute(t.Context(), []string{"ledger", "verify", "proof.json", "--head", sealedHead}))
	require.Contains(t, out.String(), "entry 8 of 15 of run "+sealedRun+", workspace acme: in the ledger that was sealed")
	require.Contains(t, out.String(), "self-signed by joy-workspace/acme+25f35433")
	other, err := notekey.Workspace.New(filepath.Join(t.TempDir(), "k"), "acme", rand.Reader)
	require.NoError(t, err)
	for name, args := range map[string][]string{
		"another head": {"--head", "sha256:" + strings.Repeat("0", 64)}, "another key": {"--key", other.Public.String()},
	} {
		require.Equal(t, 7, exitCode(b.execute(t.Context(), append([]string{"ledger", "verify", "proof.json"}, args...))), name)
	}
	edited := strings.Replace(string(written), "evil.example", "good.example", 1)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "proof.json"), []byte(edited), 0o600))
	err = b.execute(t.Context(), []string{"ledger", "verify", "proof.json"})
	require.Equal(t, 7, exitCode(err))
	require.ErrorContains(t, err, "its line was edited")

	for want, args := range map[string][]string{
		"the ledger has 15 entries, and none is 16": {"latest", "16"},
		"no number of an entry":                     {"latest", "x"},
		"the number of an entry":                    {"latest"},
	} {
		err := a.execute(t.Context(), append([]string{"ledger", "prove"}, args...))
		require.Equal(t, 2, exitCode(err), want)
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, os.Remove(filepath.Join(run, sealFile)))
	err = a.execute(t.Context(), []string{"ledger", "prove", "latest", "8"})
	require.ErrorContains(t, err, "the ledger is not sealed")
	require.Equal(t, 7, exitCode(err))
}
