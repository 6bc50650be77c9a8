// Package signature says who stands for a plan: joy.lock.sig, a signed note beside joy.lock.
//
// The one rule: what is signed names the plan by its digest, and the digest is computed from the plan at hand, never
// taken from the file. A lock that was changed after it was signed has no signature.
//
// The form is that of golang.org/x/mod/sumdb/note: a text, an empty line, and one line for each Ed25519 signature. Equal
// plans have equal texts, and signing twice gives the same bytes.
package signature

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// Suffix is what the name of a signature has behind that of its lock.
const Suffix = ".sig"

// MaxBytes is the largest signature that is read; some hundred signers fit.
const MaxBytes = 64 << 10

// CodeSignature is that of the errors of this package: missing, broken, of another plan, or by nobody who is trusted.
const CodeSignature = "JOY-SIGNATURE"

// head is the first line of what is signed. It keeps the signature of anything else from being taken for one of a plan.
const head = "joy plan signature 1"

// Text is what is signed for p. The error is a plan that cannot be encoded.
func Text(p *plan.Plan) (string, error) {
	digest, err := plan.Digest(p)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s\nagent %s\nworkspace %s\nplan %s\n", head, p.Agent.Name, p.Agent.Workspace, digest), nil
}

// Sign signs p and keeps what others have signed for the same plan; a signature of another plan is replaced. old is the
// present content of joy.lock.sig, or nil.
func Sign(p *plan.Plan, key Key, old []byte) ([]byte, error) {
	text, err := Text(p)
	if err != nil {
		return nil, err
	}
	n := &note.Note{Text: text}
	var unknown *note.UnverifiedNoteError
	if _, err := note.Open(old, note.VerifierList()); errors.As(err, &unknown) && unknown.Note.Text == text {
		n.UnverifiedSigs = unknown.Note.UnverifiedSigs
	}
	return note.Sign(n, key.Signer)
}

// Signer is one signature line. Hash tells keys of one name apart.
type Signer struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"`     // 8 hex digits
	Verified bool   `json:"verified"` // by one of the keys that were given
}

// Check says who signed p: sig is the content of joy.lock.sig, file its name for errors. Signatures of other keys are
// listed without being verified: anybody can write such a line. Errors are *fault.Error: of kind Drift when sig is no
// signature, is of another plan, or a signature by one of keys is wrong.
func Check(p *plan.Plan, sig []byte, file string, keys ...PublicKey) ([]Signer, error) {
	want, err := Text(p)
	if err != nil {
		return nil, err
	}
	if len(sig) > MaxBytes {
		return nil, bad(file, "the signature is larger than %d bytes", MaxBytes)
	}
	verifiers := make([]note.Verifier, 0, len(keys))
	for _, k := range keys {
		if !slices.ContainsFunc(verifiers, func(v note.Verifier) bool { return v.Name() == k.Name() && v.KeyHash() == k.KeyHash() }) {
			verifiers = append(verifiers, k)
		}
	}
	n, err := note.Open(sig, note.VerifierList(verifiers...))
	var unknown *note.UnverifiedNoteError
	var wrong *note.InvalidSignatureError
	switch {
	case errors.As(err, &unknown):
		n = unknown.Note
	case errors.As(err, &wrong):
		return nil, bad(file, "the signature of %s is wrong", wrong.Name)
	case err != nil:
		return nil, bad(file, "this is not a signature joy can read: %v", err)
	}
	if n.Text != want {
		return nil, bad(file, "%s", otherPlan(n.Text, want))
	}
	var out []Signer
	for _, s := range n.Sigs {
		out = append(out, Signer{s.Name, fmt.Sprintf("%08x", s.Hash), true})
	}
	for _, s := range n.UnverifiedSigs {
		out = append(out, Signer{s.Name, fmt.Sprintf("%08x", s.Hash), false})
	}
	return out, nil
}

// Require is Check for a policy: one of keys must have signed. sig is nil when there is no joy.lock.sig. Beside the
// errors of Check there is one of kind Consent: nobody who is trusted has signed.
func Require(p *plan.Plan, sig []byte, file string, keys ...PublicKey) ([]Signer, error) {
	var signers []Signer
	if sig != nil {
		var err error
		if signers, err = Check(p, sig, file, keys...); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(signers, func(s Signer) bool { return s.Verified }) {
		return signers, nil
	}
	e := fault.New(fault.Consent, "nobody has signed the plan").WithHint("joy plan sign")
	if len(signers) > 0 {
		names := make([]string, len(signers))
		for i, s := range signers {
			names[i] = s.Name + "+" + s.Hash
		}
		e.Msg = "nobody whose key is known has signed the plan; there are signatures that say " + strings.Join(names, ", ")
		e.Hint = "give the signer's public key, which came by a way you trust"
	}
	e.Code = CodeSignature
	return signers, e.At(file, 0, 0)
}

// otherPlan says what a signature of something else is of.
func otherPlan(got, want string) string {
	if !strings.HasPrefix(got, head+"\n") {
		return "it signs something that is no plan"
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("it signs another plan: %.100s, and here is %s", a[i], b[i])
		}
	}
	return "it signs another plan"
}

func bad(file, format string, args ...any) error {
	e := fault.New(fault.Drift, format, args...).At(file, 0, 0).WithHint("review the plan, then: joy plan sign")
	e.Code = CodeSignature
	return e
}
