package cli

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/joystream-ai/joy/internal/config"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
)

const sealedRun = "20261124-180300-k3fq2a"

// sealedHead is that of the vector "sealed".
const sealedHead = "sha256:9da125655bfb88284aeef91abad08f49ccb5d2b32601bdc190161252c0530b06"

// sealedProject is a directory with the sealed run of the vectors in it, and an index that knows it.
func sealedProject(t *testing.T) (a *app, out, errs *bytes.Buffer, run string) {
	t.Helper()
	a, out, errs = testApp(t)
	run = filepath.Join(a.dir, ".joy", "runs", sealedRun)
	require.NoError(t, os.MkdirAll(run, 0o700))
	require.NoError(t, os.Chmod(filepath.Join(a.dir, ".joy"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(run, ledgerFile), vector(t, "sealed.jsonl"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(run, sealFile), vector(t, "sealed.note"), 0o600))
	cfg, err := config.Load(a.env.LookupEnv, func(string) *pflag.Flag { return nil })
	require.NoError(t, err)
	require.NoError(t, state.OpenIndex(cfg.Dirs.State).PutHead(state.Head{
		Run: sealedRun, StateDir: filepath.Join(a.dir, ".joy"), Entries: 15, Head: sealedHead,
	}))
	a.cfg = cfg
	return a, out, errs, run
}

func TestVerifySealedRun(t *testing.T) {
	a, out, errs, _ := sealedProject(t)
	for _, args := range [][]string{{}, {"latest"}, {sealedRun, "--head", sealedHead}} {
		out.Reset()
		require.NoError(t, a.execute(t.Context(), append([]string{"ledger", "verify"}, args...)))
		require.Contains(t, out.String(), "run "+sealedRun+": complete, sealed\n  entries  15 hold")
		require.Contains(t, out.String(), "proof    self-signed by joy-workspace/acme+25f35433: only the ledger says whose key that is")
		require.Contains(t, out.String(), "proof    the head is the one in your index of runs")
		require.Equal(t, len(args) == 3, strings.Contains(out.String(), "the head matches the one given"))
	}
	require.Empty(t, errs.String())
}

// Whatever is done to a run's files is seen from what lies outside the project, in words of its own, and ends with 7.
func TestVerifySeesWhatWasDoneToARun(t *testing.T) {
	seen := map[string]string{}
	put := func(name, vec string) func(t *testing.T, run string) {
		return func(t *testing.T, run string) {
			require.NoError(t, os.WriteFile(filepath.Join(run, name), vector(t, vec), 0o600))
		}
	}
	remove := func(name string) func(t *testing.T, run string) {
		return func(t *testing.T, run string) { require.NoError(t, os.RemoveAll(filepath.Join(run, name))) }
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, run string)
		want string
	}{
		"cut":               {put(ledgerFile, "cut-9.jsonl"), "the seal is of 15 entries, and 6 are here: 9 lines were cut off the end"},
		"empty":             {put(ledgerFile, "empty.jsonl"), "the ledger is empty, and the seal is of 15 entries"},
		"torn":              {put(ledgerFile, "torn.jsonl"), "line 15 is torn: 40 bytes without a newline at the end; the seal is of 15 entries"},
		"ledger deleted":    {remove(ledgerFile), "run " + sealedRun + " has no ledger"},
		"run deleted":       {remove("."), "its ledger is gone: your index of runs has 15 entries of it"},
		"state deleted":     {remove("../.."), "its ledger is gone: your index of runs has 15 entries of it"},
		"seal deleted":      {remove(sealFile), "its seal is not here: it ends in run.sealed, and there is no seal.note"},
		"seal emptied":      {put(sealFile, "seal-empty.note"), "its seal cannot be read: it is no signed note"},
		"of another run":    {put(sealFile, "other-run.note"), "the seal is of run 20261124-190000-aaaaaa, and the ledger of run " + sealedRun},
		"signature changed": {put(sealFile, "seal-signature.note"), "its seal does not hold: its signature by joy-workspace/acme is wrong"},
		"swapped":           {put(ledgerFile, "swapped.jsonl"), "lines 7 and 8 were swapped"},
		"duplicated":        {put(ledgerFile, "duplicated.jsonl"), "line 9 is a duplicate of line 8"},
		"removed":           {put(ledgerFile, "removed.jsonl"), "a line was removed before line 8: entry 8 is missing"},
		"edited":            {put(ledgerFile, "edited.jsonl"), "line 8 was edited: its hash does not match its bytes"},
		"chain made anew":   {put(ledgerFile, "rewritten.jsonl"), "an entry was edited, and every hash from there on made anew"},
		"seal cut off too": {func(t *testing.T, run string) {
			put(ledgerFile, "unsealed.jsonl")(t, run)
			remove(sealFile)(t, run)
		}, "your index of runs has 15 entries of it, and 14 are here: the end was cut off"},
		"sealed anew": {resealed, "your index of runs has the head " + sealedHead + ", and the ledger's is sha256:"},
		"witness says otherwise": {func(t *testing.T, run string) {
			line, err := json.Marshal(witnessed{Witness: "https://w.example", At: "end", Run: sealedRun, Entries: 15, Head: "sha256:other"})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(run, witnessFile), line, 0o600))
		}, "the witness https://w.example was told of 15 entries and the head sha256:other, and the ledger has 15"},
	} {
		a, out, _, run := sealedProject(t)
		c.do(t, run)
		err := a.execute(t.Context(), []string{"ledger", "verify"})
		require.Equal(t, 7, exitCode(err), "%s: %v", name, err)
		text := err.Error() + out.String()
		require.Contains(t, text, c.want, name)
		if other, ok := seen[c.want]; ok && !strings.HasSuffix(other, "deleted") {
			t.Errorf("%s and %s are told in the same words", name, other)
		}
		seen[c.want] = name

		err = a.execute(t.Context(), []string{"ledger", "verify", sealedRun})
		require.Equal(t, 7, exitCode(err), "%s, by its id: %v", name, err)
	}
}

// resealed replaces the run by a forgery that is whole in itself: another story, another key, a seal.
func resealed(t *testing.T, run string) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "joy-workspace/acme")
	require.NoError(t, err)
	signer, err := note.NewSigner(private)
	require.NoError(t, err)
	lines := bytes.SplitAfter(vector(t, "rewritten.jsonl"), []byte("\n"))
	last := lines[14]
	body := string(last[:bytes.LastIndex(last, []byte(`,"hash":`))])
	from := strings.Index(body, `"key":"`) + len(`"key":"`)
	body = body[:from] + public + body[from+strings.Index(body[from:], `"`):]
	sum := hashOf(body)
	lines[14] = []byte(body + `,"hash":"` + sum + "\"}\n")
	forged := bytes.Join(lines, nil)
	require.NoError(t, os.WriteFile(filepath.Join(run, ledgerFile), forged, 0o600))

	rep, err := verify.Check(bytes.NewReader(forged), verify.Options{})
	require.NoError(t, err)
	require.Equal(t, verify.Complete, rep.State, rep.Problem)
	seal, err := note.Sign(&note.Note{Text: sealText(rep)}, signer)
	require.NoError(t, err)
	require.Equal(t, verify.Complete, verify.Judge(rep, verify.Evidence{Seal: seal}).State, "by itself the forgery holds")
	require.NoError(t, os.WriteFile(filepath.Join(run, sealFile), seal, 0o600))
}
