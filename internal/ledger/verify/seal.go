package verify

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// MaxSeal is the most bytes that a seal may have.
const MaxSeal = 64 << 10

// ErrNotSigned is in the tree of SignedBy's error when there is no signature that says it is of that key.
var ErrNotSigned = errors.New("it is not signed with this key")

// Seal is what a seal says. Nothing of it is to be believed before SignedBy and Holds.
type Seal struct {
	Workspace string
	Run       string
	Entries   int64
	Root      Hash
	Head      string
	Plan      string
	Signers   []string // names that the signatures claim, with the hash of the key

	note string
}

// sealForm is the text of a seal: the ledger's name, its size and root as in a checkpoint of a transparency log
// (https://c2sp.org/tlog-checkpoint), and two lines more.
var sealForm = regexp.MustCompile(`^joy-ledger/([^/\s]+)/([A-Za-z0-9][A-Za-z0-9_-]{0,63})\n([1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n` +
	`head (sha256:[0-9a-f]{64})\nplan (sha256:[0-9a-f]{64})\n$`)

// ParseSeal reads the content of seal.note.
func ParseSeal(b []byte) (Seal, error) {
	if len(b) > MaxSeal {
		return Seal{}, fmt.Errorf("it is larger than %d bytes", MaxSeal)
	}
	_, err := note.Open(b, note.VerifierList())
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return Seal{}, errors.New("it is no signed note")
	}
	n := unverified.Note
	m := sealForm.FindStringSubmatch(n.Text)
	if m == nil {
		return Seal{}, errors.New("it signs something that is no ledger")
	}
	s := Seal{Workspace: m[1], Run: m[2], Head: m[5], Plan: m[6], note: string(b)}
	if s.Entries, err = strconv.ParseInt(m[3], 10, 64); err != nil || s.Entries > maxInt {
		return Seal{}, errors.New("its size is no number of entries")
	}
	root, err := base64.StdEncoding.Strict().DecodeString(m[4])
	if err != nil {
		return Seal{}, errors.New("its root is no hash")
	}
	s.Root = Hash(root)
	for _, sig := range n.UnverifiedSigs {
		s.Signers = append(s.Signers, fmt.Sprintf("%s+%08x", sig.Name, sig.Hash))
	}
	return s, nil
}

// SignedBy checks the seal's signature by a public key, in the form of golang.org/x/mod/sumdb/note.
func (s Seal) SignedBy(key string) error { return signedBy(s.note, key) }

// CosignedBy checks more as signature lines for the same text: what a witness answered.
func (s Seal) CosignedBy(more, key string) error {
	text, _, _ := strings.Cut(s.note, "\n\n")
	return signedBy(text+"\n\n"+strings.TrimRight(more, "\n")+"\n", key)
}

func signedBy(signed, key string) error {
	v, err := note.NewVerifier(strings.TrimSpace(key))
	if err != nil {
		return errors.New("it names no public key")
	}
	_, err = note.Open([]byte(signed), note.VerifierList(v))
	var none *note.UnverifiedNoteError
	var wrong *note.InvalidSignatureError
	switch {
	case errors.As(err, &none):
		return fmt.Errorf("%w, %s+%08x", ErrNotSigned, v.Name(), v.KeyHash())
	case errors.As(err, &wrong):
		return fmt.Errorf("its signature by %s is wrong", v.Name())
	case err != nil:
		return errors.New("it is no signed note")
	}
	return nil
}

// Holds compares the seal with what Check found of a ledger, and says what is wrong, or "". That of a ledger whose chain is
// broken says less than the chain.
func (s Seal) Holds(rep Report) string {
	switch n := rep.Entries; {
	case n > 0 && s.Run != rep.Run:
		return fmt.Sprintf("the seal is of run %s, and the ledger of run %s", s.Run, rep.Run)
	case n > 0 && s.Plan != rep.PlanDigest:
		return fmt.Sprintf("the seal is of plan %s, and the ledger of plan %s", s.Plan, rep.PlanDigest)
	case n > 0 && s.Workspace != rep.Workspace && rep.Workspace != "":
		return fmt.Sprintf("the seal is of workspace %s, and the ledger of workspace %.64q", s.Workspace, rep.Workspace)
	case n < s.Entries && rep.Problem != "" && rep.Line > 0:
		return fmt.Sprintf("%s; the seal is of %d entries", rep.Problem, s.Entries)
	case n == 0:
		return fmt.Sprintf("the ledger is empty, and the seal is of %d entries", s.Entries)
	case n < s.Entries:
		return fmt.Sprintf("the seal is of %d entries, and %d are here: %s cut off the end", s.Entries, n, lost(s.Entries-n))
	case n > s.Entries:
		return fmt.Sprintf("the seal is of %d entries, and %d are here: entries were added, and hashes made anew", s.Entries, n)
	case s.Head != rep.Head:
		return "the seal is of the head " + s.Head + ", and the ledger's is " + rep.Head +
			": an entry was edited, and every hash from there on made anew"
	case s.Root != rep.Root:
		return "the seal's root is not that of the lines"
	case !rep.Sealed:
		return "the seal's last entry is not run.sealed"
	}
	return ""
}

func lost(n int64) string {
	if n == 1 {
		return "a line was"
	}
	return fmt.Sprintf("%d lines were", n)
}
