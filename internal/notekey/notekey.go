// Package notekey keeps the keys that joy signs with: a file for each, with Ed25519 halves in the form of
// golang.org/x/mod/sumdb/note.
//
// The one rule: a key serves one purpose, which its name begins with. A key of another purpose is refused wherever a key
// is read, so that a signature under one thing never passes for one under another.
package notekey

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/joystream-ai/joy/internal/fault"
)

// Code is that of the errors of this package.
const Code = "JOY-KEY"

// Purpose is what a key signs.
type Purpose struct {
	prefix string // of the names of its keys
	whose  string // the …'s key
	owner  string
	print  string // the command that prints the public half
}

// There is no key for anything else.
var (
	Author    = Purpose{"joy-author/", "the author's key", "an author", "joy plan sign --public"} // plans
	Workspace = Purpose{"joy-workspace/", "the workspace's key", "a workspace", "joy ledger key"} // seals of runs
	User      = Purpose{"joy-user/", "the user's key", "a user", "joy gc"}                        // tags of sandboxes elsewhere
)

// Key is a private key. It is nowhere but in its file.
type Key struct {
	Public Public
	Signer note.Signer
}

// Public is the half that others check with.
type Public struct {
	text    string
	purpose Purpose
	note.Verifier
}

// String is the key as Parse reads it: one line without white space.
func (k Public) String() string { return k.text }

// PEM is the key as tools of other makes read it: a SubjectPublicKeyInfo of Ed25519 (RFC 8410) between the lines of RFC
// 7468. It says nothing of whose key it is.
func (k Public) PEM() (string, error) {
	parts := strings.SplitN(k.text, "+", 3) // the last is base64, which may hold a "+"
	raw, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(raw) != 1+ed25519.PublicKeySize { // the first byte is the algorithm, which Parse has checked
		return "", k.purpose.bad(errors.New("it is no Ed25519 key"), "write the public key of %s", k.purpose.owner)
	}
	der, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(raw[1:]))
	if err != nil {
		return "", k.purpose.bad(err, "write the public key of %s", k.purpose.owner)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

// Owner is the key's name without its purpose. It is a claim: what tells is the key.
func (k Public) Owner() string { return strings.TrimPrefix(k.Name(), k.purpose.prefix) }

// Parse reads a public key of this purpose.
func (p Purpose) Parse(text string) (Public, error) {
	text = strings.TrimSpace(text)
	v, err := note.NewVerifier(text)
	if err == nil && !strings.HasPrefix(v.Name(), p.prefix) {
		err = fmt.Errorf("it is a key of %q, and that of %s begins with %s", v.Name(), p.owner, p.prefix)
	}
	if err != nil {
		return Public{}, p.bad(err, "this is not the public key of %s", p.owner).WithHint("%s prints it", p.print)
	}
	return Public{text, p, v}, nil
}

// CheckForeign says whether text is a public key that somebody else made, for a purpose that is not joy's.
func CheckForeign(text string) error {
	v, err := note.NewVerifier(text)
	if err == nil && strings.HasPrefix(v.Name(), "joy-") {
		err = fmt.Errorf("it is a key of %q, and serves another purpose", v.Name())
	}
	if err != nil {
		return Workspace.bad(err, "this is not the public key of a workspace or a witness").WithHint("%s prints one", Workspace.print)
	}
	return nil
}

func (p Purpose) bad(err error, format string, args ...any) *fault.Error {
	e := fault.Wrap(fault.Input, err, format, args...)
	e.Code = Code
	return e
}
