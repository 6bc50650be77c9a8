package notekey

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
)

const maxKey = 4096 // bytes of a key file

// Read reads the key file at path. The error wraps fs.ErrNotExist when there is none. A file that others may read is
// refused where the file system can say so: its key may be anybody's.
func (p Purpose) Read(path string) (Key, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Key{}, err
	case err != nil:
		return Key{}, p.bad(err, "read %s", p.whose)
	case !info.Mode().IsRegular():
		return Key{}, p.bad(errors.New("it is not an ordinary file"), "read %s", p.whose).At(path, 0, 0)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return Key{}, p.bad(fmt.Errorf("its mode is %04o, and others may read it", info.Mode().Perm()), "read %s", p.whose).
			At(path, 0, 0).WithHint("if nobody has: chmod 600 %s; else make another key", path)
	case info.Size() > maxKey:
		return Key{}, p.bad(errors.New("it is too large for a key"), "read %s", p.whose).At(path, 0, 0)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Key{}, p.bad(err, "read %s", p.whose)
	}
	k, err := p.parse(string(data))
	if err != nil {
		return Key{}, p.bad(err, "read %s", p.whose).At(path, 0, 0)
	}
	return k, nil
}

// parse reads what New writes: the private key, a line, and the public key, a line. The second cannot be had from the
// first without knowing how note encodes it, so both are kept and held against each other.
func (p Purpose) parse(text string) (Key, error) {
	private, public, _ := strings.Cut(strings.TrimSpace(text), "\n")
	signer, err := note.NewSigner(strings.TrimSpace(private))
	if err != nil {
		return Key{}, errors.New("it holds no private key") // err may quote the key
	}
	pub, err := p.Parse(public)
	if err != nil {
		return Key{}, err
	}
	probe, err := note.Sign(&note.Note{Text: "probe\n"}, signer)
	if err == nil {
		_, err = note.Open(probe, note.VerifierList(pub))
	}
	if err != nil {
		return Key{}, errors.New("its public half is of another key")
	}
	return Key{pub, signer}, nil
}

// New makes a key of that name and writes it to path, 0600, below directories of mode 0700. random is the source of the
// key. A file that is there is never replaced: the error wraps fs.ErrExist. The file appears whole: of several who make
// a key at once, all but one get that error and can read the one's.
func (p Purpose) New(path, name string, random io.Reader) (Key, error) {
	private, public, err := note.GenerateKey(random, p.prefix+keyName(name))
	if err != nil {
		return Key{}, p.bad(err, "make %s", p.whose)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Key{}, p.bad(err, "make %s", p.whose)
	}
	if err := writeOnce(path, private+"\n"+public+"\n"); err != nil {
		return Key{}, p.bad(err, "make %s", p.whose)
	}
	return p.parse(private + "\n" + public)
}

// writeOnce puts a file at path in one go, if there is none.
func writeOnce(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path) // fails where there is a file, as a rename would not
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
