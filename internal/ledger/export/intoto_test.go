package export_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"testing"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	attestation "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/signerverifier"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/export"
	"github.com/joystream-ai/joy/internal/notekey"
)

// nameless is a verifier that knows a key and no id for it, as cosign's is.
type nameless struct{ key ed25519.PublicKey }

func (n nameless) KeyID() (string, error)   { return "", nil }
func (n nameless) Public() crypto.PublicKey { return n.key }
func (n nameless) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(n.key, data, sig) {
		return errors.New("wrong signature")
	}
	return nil
}

// accepts lets the DSSE library judge, once with the id that it computes for a key and once without any.
func accepts(t *testing.T, env dsse.Envelope, key notekey.Key) bool {
	t.Helper()
	block, err := key.Public.PEM()
	require.NoError(t, err)
	loaded, err := signerverifier.LoadKey([]byte(block))
	require.NoError(t, err)
	named, err := signerverifier.NewED25519SignerVerifierFromSSLibKey(loaded)
	require.NoError(t, err)
	der, _ := pem.Decode([]byte(block))
	public, err := x509.ParsePKIXPublicKey(der.Bytes)
	require.NoError(t, err)
	var good []bool
	for _, v := range []dsse.Verifier{named, nameless{public.(ed25519.PublicKey)}} {
		ev, err := dsse.NewEnvelopeVerifier(v)
		require.NoError(t, err)
		_, err = ev.Verify(t.Context(), &env)
		good = append(good, err == nil)
	}
	require.Equal(t, good[0], good[1], "the two disagree")
	return good[0]
}

func decode(t *testing.T, out string) (dsse.Envelope, *attestation.Statement, *provenance.Provenance) {
	t.Helper()
	var env dsse.Envelope
	require.NoError(t, json.Unmarshal([]byte(out), &env))
	payload, err := env.DecodeB64Payload()
	require.NoError(t, err)
	st, pred := &attestation.Statement{}, &provenance.Provenance{}
	require.NoError(t, protojson.Unmarshal(payload, st)) // an unknown field is an error
	require.NoError(t, st.Validate())
	raw, err := protojson.Marshal(st.GetPredicate())
	require.NoError(t, err)
	require.NoError(t, protojson.Unmarshal(raw, pred))
	require.NoError(t, pred.Validate())
	return env, st, pred
}

func TestStatement(t *testing.T) {
	lines := written(t, story)
	out, err := exported(t, "in-toto", lines, func(r *export.Run) { r.Plan, r.Lock, r.Seal = frozen(), []byte("lock"), []byte("seal") })
	require.NoError(t, err)
	env, st, pred := decode(t, out)
	require.Equal(t, "application/vnd.in-toto+json", env.PayloadType)
	require.True(t, accepts(t, env, workspaceKey(t, "acme")))

	require.Equal(t, "https://slsa.dev/provenance/v1", st.GetPredicateType())
	require.Len(t, st.GetSubject(), 1)
	require.Equal(t, "render/report.pdf", st.GetSubject()[0].GetName())
	require.Equal(t, ab[len("sha256:"):], st.GetSubject()[0].GetDigest()["sha256"])

	def, run := pred.GetBuildDefinition(), pred.GetRunDetails()
	params := def.GetExternalParameters().AsMap()
	require.Equal(t, "weekly-report", params["agent"])
	require.Equal(t, "manual", params["trigger"])
	require.NotContains(t, pred.String(), "laptop")
	require.NotContains(t, pred.String(), `"ada"`)
	require.Equal(t, "hardware", def.GetInternalParameters().AsMap()["isolation"])
	require.Contains(t, def.GetInternalParameters().AsMap(), "policy")
	var deps []string
	for _, d := range def.GetResolvedDependencies() {
		deps = append(deps, d.GetName())
	}
	require.Equal(t, []string{
		"plan", "joy.lock", "joy.yaml", "skill:render-report", "skill:unused", "connection:drive:bin/drive", "tool:drive.list",
		"tool:drive.upload", "image", "skill:write-summary", "model:anthropic/claude-sonnet-5",
	}, deps)
	require.Contains(t, def.GetResolvedDependencies()[3].GetDigest(), "joyTree1")

	require.Equal(t, runName, run.GetMetadata().GetInvocationId())
	require.Equal(t, int64(1795543380), run.GetMetadata().GetStartedOn().GetSeconds())
	require.Equal(t, "v1.2.3", run.GetBuilder().GetVersion()["joy"])
	require.Len(t, run.GetBuilder().GetBuilderDependencies(), 2)
	whole := run.GetByproducts()[0]
	sum := sha256.Sum256(lines)
	require.Equal(t, hex.EncodeToString(sum[:]), whole.GetDigest()["sha256"], "the file as it lies there")
	require.EqualValues(t, len(story)+1, whole.GetAnnotations().AsMap()["entries"])
	require.Equal(t, "seal.note", run.GetByproducts()[1].GetName())
	require.Equal(t, "logs/render.1.stdout", run.GetByproducts()[2].GetName())
	require.Equal(t, "logs/render.2.stdout", run.GetByproducts()[3].GetName())
	require.Len(t, run.GetByproducts(), 4, "nothing was printed on stderr")
}

// A copy of a ledger has no plan beside it. What the ledger itself names is still there.
func TestStatementWithoutThePlan(t *testing.T) {
	out, err := exported(t, "in-toto", written(t, story), func(r *export.Run) { r.JoyDigest = "sha256:other" })
	require.NoError(t, err)
	_, _, pred := decode(t, out)
	require.Empty(t, pred.GetRunDetails().GetBuilder().GetVersion(), "another joy exports than ran")
	require.NotContains(t, pred.GetBuildDefinition().GetInternalParameters().AsMap(), "policy")
	require.Len(t, pred.GetBuildDefinition().GetResolvedDependencies(), 6)
}

func TestStatementThatWasChanged(t *testing.T) {
	out, err := exported(t, "in-toto", written(t, story), nil)
	require.NoError(t, err)
	env, _, _ := decode(t, out)
	key := workspaceKey(t, "acme")
	require.True(t, accepts(t, env, key))
	require.False(t, accepts(t, env, workspaceKey(t, "another")), "another key")

	payload, err := env.DecodeB64Payload()
	require.NoError(t, err)
	for i := 0; i < len(payload); i += 97 {
		changed := append([]byte{}, payload...)
		changed[i] ^= 1
		bad := env
		bad.Payload = base64.StdEncoding.EncodeToString(changed)
		require.False(t, accepts(t, bad, key), "byte %d", i)
	}
	bad := env
	bad.PayloadType = "application/json"
	require.False(t, accepts(t, bad, key))
	// A signature under a seal is none under a statement.
	sig, err := key.Signer.Sign(payload)
	require.NoError(t, err)
	bad = env
	bad.Signatures = []dsse.Signature{{Sig: base64.StdEncoding.EncodeToString(sig)}}
	require.False(t, accepts(t, bad, key))
}

func TestStatementsThatAreNotMade(t *testing.T) {
	end := func(outcome string) record { return record{ledger.RunFinished, "", ledger.Data{"outcome": outcome}} }
	missing := fault.New(fault.Consent, "no key here")
	for name, c := range map[string]struct {
		records []record
		key     error
		kind    fault.Kind
		says    string
	}{
		"failed":      {append(append([]record{}, story[:16]...), end("failed")), nil, fault.Agent, "outcome: failed"},
		"interrupted": {append(append([]record{}, story[:16]...), end("interrupted")), nil, fault.Agent, "outcome: interrupted"},
		"no artifact": {[]record{story[0], end("succeeded")}, nil, fault.Input, "stored no artifact"},
		"no key":      {story, missing, fault.Consent, "no key here"},
	} {
		out, err := exported(t, "in-toto", written(t, c.records), func(r *export.Run) {
			if c.key != nil {
				r.Key = func() (notekey.Key, error) { return notekey.Key{}, c.key }
			}
		})
		var f *fault.Error
		require.ErrorAs(t, err, &f, name)
		require.Equal(t, c.kind, f.Kind, name)
		require.ErrorContains(t, err, c.says, name)
		require.Empty(t, out, name)
	}
}
