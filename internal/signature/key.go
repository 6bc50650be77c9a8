package signature

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode"

	"golang.org/x/mod/sumdb/note"

	"github.com/joystream-ai/joy/internal/fault"
)

// prefix begins the name of every author's key, so that neither a key for seals nor one for tags is taken for one.
const prefix = "joy-author/"

const maxKey = 4096 // bytes of a key file

// Key is an author's private key. It is nowhere but in its file.
type Key struct {
	Public PublicKey
	signer note.Signer
}

// PublicKey is the half that others check with.
type PublicKey struct {
	text     string
	verifier note.Verifier
}

// String is the key as ParsePublic reads it: one line without white space.
func (k PublicKey) String() string { return k.text }

// Name is the signer's name, which is a claim: what tells is the key.
func (k PublicKey) Name() string { return k.verifier.Name() }

// KeyHash tells keys of one name apart.
func (k PublicKey) KeyHash() uint32 { return k.verifier.KeyHash() }

// ParsePublic reads a public key of an author.
func ParsePublic(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	v, err := note.NewVerifier(text)
	if err == nil && !strings.HasPrefix(v.Name(), prefix) {
		err = fmt.Errorf("it is a key of %q, and an author's begins with %s", v.Name(), prefix)
	}
	if err != nil {
		return PublicKey{}, badKey(err, "this is not the public key of an author").WithHint("joy plan sign --public prints it")
	}
	return PublicKey{text, v}, nil
}

// ReadKey reads the key file at path. The error wraps fs.ErrNotExist when there is none. A file that others may read is
// refused where the file system can say so: its key may be anybody's.
func ReadKey(path string) (Key, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Key{}, err
	case err != nil:
		return Key{}, badKey(err, "read the author's key")
	case !info.Mode().IsRegular():
		return Key{}, badKey(errors.New("it is not an ordinary file"), "read the author's key").At(path, 0, 0)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return Key{}, badKey(fmt.Errorf("its mode is %04o, and others may read it", info.Mode().Perm()), "read the author's key").
			At(path, 0, 0).WithHint("if nobody has: chmod 600 %s; else make another key", path)
	case info.Size() > maxKey:
		return Key{}, badKey(errors.New("it is too large for a key"), "read the author's key").At(path, 0, 0)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Key{}, badKey(err, "read the author's key")
	}
	k, err := parseKey(string(data))
	if err != nil {
		return Key{}, badKey(err, "read the author's key").At(path, 0, 0)
	}
	return k, nil
}

// parseKey reads what newKey writes: the private key, a line, and the public key, a line. The second cannot be had from
// the first without knowing how note encodes it, so both are kept and held against each other.
func parseKey(text string) (Key, error) {
	private, public, _ := strings.Cut(strings.TrimSpace(text), "\n")
	signer, err := note.NewSigner(strings.TrimSpace(private))
	if err != nil {
		return Key{}, errors.New("it holds no private key") // err may quote the key
	}
	pub, err := ParsePublic(public)
	if err != nil {
		return Key{}, err
	}
	probe, err := note.Sign(&note.Note{Text: "probe\n"}, signer)
	if err == nil {
		_, err = note.Open(probe, note.VerifierList(pub.verifier))
	}
	if err != nil {
		return Key{}, errors.New("its public half is of another key")
	}
	return Key{pub, signer}, nil
}

// NewKey makes a key for a person of that name and writes it to path, 0600, below directories of mode 0700. random is the
// source of the key. A file that is there is never replaced: the error wraps fs.ErrExist.
func NewKey(path, name string, random io.Reader) (Key, error) {
	private, public, err := note.GenerateKey(random, prefix+keyName(name))
	if err != nil {
		return Key{}, badKey(err, "make the author's key")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Key{}, badKey(err, "make the author's key")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Key{}, badKey(err, "make the author's key")
	}
	_, err = f.WriteString(private + "\n" + public + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path) // half a key is none
		return Key{}, badKey(err, "make the author's key")
	}
	return parseKey(private + "\n" + public)
}

var notInName = regexp.MustCompile(`[^\pL\pN@._-]+`)

// keyName is what a note lets a name hold.
func keyName(name string) string {
	name = notInName.ReplaceAllString(strings.TrimFunc(name, unicode.IsSpace), "-")
	if r := []rune(name); len(r) > 64 {
		name = string(r[:64])
	}
	if name == "" {
		return "somebody"
	}
	return name
}

func badKey(err error, what string) *fault.Error {
	e := fault.Wrap(fault.Input, err, "%s", what)
	e.Code = CodeKey
	return e
}
