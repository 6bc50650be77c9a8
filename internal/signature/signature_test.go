package signature

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
)

func somePlan() *plan.Plan {
	return &plan.Plan{
		LockVersion: 1, Rules: 1, Agent: plan.Agent{Name: "weekly", Workspace: "acme"}, Policy: policy.Default(),
		Steps: []plan.Step{{ID: "a", Kind: plan.Prompt, With: json.RawMessage(`{}`)}},
	}
}

func newKey(t testing.TB, name string) Key {
	t.Helper()
	k, err := NewKey(filepath.Join(t.TempDir(), "keys", "author.key"), name, rand.Reader)
	require.NoError(t, err)
	return k
}

func sign(t testing.TB, p *plan.Plan, k Key, old []byte) []byte {
	t.Helper()
	sig, err := Sign(p, k, old)
	require.NoError(t, err)
	return sig
}

// refused asks for an error of that kind and words, with the code and the file.
func refused(t *testing.T, err error, kind fault.Kind, words string) {
	t.Helper()
	require.ErrorContains(t, err, words)
	f := fault.All(err)[0]
	require.Equal(t, kind, f.Kind)
	require.Equal(t, CodeSignature, f.Code)
	require.Equal(t, "joy.lock.sig", f.File)
	require.NotEmpty(t, f.Hint)
}

func TestWhatIsNoSignatureOfThePlan(t *testing.T) {
	alice := newKey(t, "alice")
	sig := string(sign(t, somePlan(), alice, nil))
	line := sig[strings.Index(sig, "— "):]
	for name, tc := range map[string]struct{ sig, want string }{
		"empty":           {"", "not a signature"},
		"text":            {"hello\n", "not a signature"},
		"no signature":    {sig[:strings.Index(sig, "\n—")+1], "not a signature"},
		"wrong digits":    {strings.Replace(sig, line[len(line)-10:], "AAAAAAAA=\n", 1), "is wrong"},
		"edited text":     {strings.Replace(sig, "agent weekly", "agent daily", 1), "is wrong"},
		"too large":       {strings.Repeat("x", MaxBytes+1), "larger than"},
		"another's words": {"not a plan\n\n" + line, "is wrong"},
		"trailing":        {sig + "x", "not a signature"},
		"CRLF":            {strings.ReplaceAll(sig, "\n", "\r\n"), "not a signature"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Check(somePlan(), []byte(tc.sig), "joy.lock.sig", alice.Public)
			refused(t, err, fault.Drift, tc.want)
			_, err = Require(somePlan(), []byte(tc.sig), "joy.lock.sig", alice.Public)
			refused(t, err, fault.Drift, tc.want)
		})
	}
	for _, tc := range []struct {
		change func(p *plan.Plan)
		want   string
	}{
		{func(p *plan.Plan) { p.Policy.CPUs = 1 }, "it signs another plan: plan sha256:"},
		{func(p *plan.Plan) { p.Agent.Name = "daily" }, "it signs another plan: agent weekly"},
		{func(p *plan.Plan) { p.Agent.Workspace = "x" }, "it signs another plan: workspace acme"},
	} {
		p := somePlan()
		tc.change(p)
		p.Digest = "sha256:as the signature says" // what a plan says of itself does not count
		_, err := Check(p, []byte(sig), "joy.lock.sig", alice.Public)
		refused(t, err, fault.Drift, tc.want)
	}
	seal, err := note.Sign(&note.Note{Text: "a sealed run\n"}, alice.Signer)
	require.NoError(t, err)
	_, err = Check(somePlan(), seal, "joy.lock.sig", alice.Public)
	refused(t, err, fault.Drift, "no plan")
}

func TestNobodyWhoIsTrusted(t *testing.T) {
	alice, mallory := newKey(t, "alice"), newKey(t, "alice")
	_, err := Require(somePlan(), nil, "joy.lock.sig", alice.Public)
	refused(t, err, fault.Consent, "nobody has signed")
	sig := sign(t, somePlan(), mallory, nil) // under alice's name
	_, err = Require(somePlan(), sig, "joy.lock.sig", alice.Public)
	refused(t, err, fault.Consent, "nobody whose key is known")
	_, err = Require(somePlan(), sig, "joy.lock.sig")
	refused(t, err, fault.Consent, "joy-author/alice")
	signers, err := Check(somePlan(), sig, "joy.lock.sig", alice.Public)
	require.NoError(t, err)
	require.False(t, signers[0].Verified, "a name is a claim")
}

func TestSigning(t *testing.T) {
	alice, bob := newKey(t, "alice"), newKey(t, "bob")
	sig := sign(t, somePlan(), alice, nil)
	digest, err := plan.Digest(somePlan())
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(sig, []byte("joy plan signature 1\nagent weekly\nworkspace acme\nplan "+digest+"\n\n— joy-author/alice ")))
	require.Equal(t, sig, sign(t, somePlan(), alice, nil), "the same bytes")
	require.Equal(t, sig, sign(t, somePlan(), alice, sig), "once is enough")

	both := sign(t, somePlan(), bob, sig)
	signers, err := Require(somePlan(), both, "joy.lock.sig", bob.Public, alice.Public, bob.Public)
	require.NoError(t, err)
	require.Len(t, signers, 2)
	for _, s := range signers {
		require.True(t, s.Verified)
		require.Len(t, s.Hash, 8)
	}
	other := somePlan()
	other.Rules = 9
	signers, err = Check(other, sign(t, other, bob, both), "joy.lock.sig", alice.Public, bob.Public)
	require.NoError(t, err)
	require.Len(t, signers, 1, "who signed another plan did not sign this one")
	_, err = Check(other, sign(t, other, bob, []byte("rubbish")), "joy.lock.sig", bob.Public)
	require.NoError(t, err)
}

// FuzzCheck: whatever is taken for a signature of the plan was made with the key.
func FuzzCheck(f *testing.F) {
	alice := newKey(f, "alice")
	good := sign(f, somePlan(), alice, nil)
	f.Add(good)
	f.Add([]byte("joy plan signature 1\n"))
	f.Fuzz(func(t *testing.T, sig []byte) {
		signers, err := Check(somePlan(), sig, "joy.lock.sig", alice.Public)
		if err == nil && signers[0].Verified {
			text, err := Text(somePlan())
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(sig, []byte(text+"\n")))
		}
	})
}
