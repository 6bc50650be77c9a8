package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own names; a wrong one is a broken repository, and nothing is trusted for its name
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// kind is what an object is, in git's words.
type kind string

const (
	kindCommit kind = "commit"
	kindTree   kind = "tree"
	kindBlob   kind = "blob"
	kindTag    kind = "tag"
)

var errObject = errors.New("the object is broken")

type object struct {
	kind kind
	data []byte
}

// typed reads an object that must be of a kind.
func (r *Repo) typed(name string, want kind) (object, error) {
	o, err := r.object(name)
	if err == nil && o.kind != want {
		err = fmt.Errorf("%.12s is a %s and no %s", name, o.kind, want)
	}
	return o, err
}

// object reads the object of a full name, loose or packed, and holds that its content has that name.
func (r *Repo) object(name string) (object, error) {
	o, err := r.find(name)
	if err != nil {
		return o, fmt.Errorf("read %.12s: %w", name, err)
	}
	head := fmt.Sprintf("%s %d\x00", o.kind, len(o.data))
	var sum string
	if len(name) == 2*sha256.Size {
		s := sha256.Sum256(append([]byte(head), o.data...))
		sum = hex.EncodeToString(s[:])
	} else {
		s := sha1.Sum(append([]byte(head), o.data...)) //nolint:gosec // see the import
		sum = hex.EncodeToString(s[:])
	}
	if sum != name {
		return object{}, fmt.Errorf("read %.12s: %w: its content has another name", name, errObject)
	}
	return o, nil
}

func (r *Repo) find(name string) (object, error) {
	for _, root := range r.objects {
		o, err := r.loose(root.FS(), name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return o, err
		}
	}
	for _, root := range r.objects {
		o, err := r.packed(root.FS(), name)
		if err == nil || !errors.Is(err, ErrNotFound) {
			return o, err
		}
	}
	return object{}, fmt.Errorf("the object is %w here: a shallow or partial clone has not all", ErrNotFound)
}

// loose reads objects/ab/cdef…: "kind size", NUL and the content, deflated.
func (r *Repo) loose(objects fs.FS, name string) (object, error) {
	f, err := openRegular(objects, name[:2]+"/"+name[2:])
	if err != nil {
		return object{}, err
	}
	defer f.Close()
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return object{}, errObject
	}
	in := bufio.NewReaderSize(z, 64)
	head, err := in.Peek(32) // the longest head is shorter
	if err != nil && !errors.Is(err, io.EOF) {
		return object{}, errObject
	}
	text, _, ok := bytes.Cut(head, []byte{0})
	word, digits, _ := strings.Cut(string(text), " ")
	size, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil {
		return object{}, errObject
	}
	if _, err := in.Discard(len(text) + 1); err != nil {
		return object{}, errObject
	}
	data, err := r.inflated(in, size)
	return object{kind(word), data}, err
}

// inflated reads exactly size bytes and holds that nothing follows. Memory grows with what is there, never with what a
// head claims.
func (r *Repo) inflated(z io.Reader, size int64) ([]byte, error) {
	if size < 0 || size > maxObject {
		return nil, fmt.Errorf("the object has %d bytes; joy reads at most %d", size, maxObject)
	}
	if r.left -= size; r.left < 0 {
		return nil, fmt.Errorf("more than %d bytes would have to be unpacked", maxInflated)
	}
	var out bytes.Buffer
	if n, err := io.Copy(&out, io.LimitReader(z, size+1)); err != nil || n != size {
		return nil, errObject
	}
	return out.Bytes(), nil
}

// abbreviated finds the one object whose name begins with prefix.
func (r *Repo) abbreviated(prefix string) (string, error) {
	found := map[string]bool{}
	for _, root := range r.objects {
		entries, err := fs.ReadDir(root.FS(), prefix[:2])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		for _, e := range entries {
			if name := prefix[:2] + e.Name(); strings.HasPrefix(name, prefix) && fullName.MatchString(name) {
				found[name] = true
			}
		}
		if err := packedWith(root.FS(), prefix, found); err != nil {
			return "", err
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("revision %s: %w", prefix, ErrNotFound)
	case 1:
		for name := range found {
			return name, nil
		}
	}
	return r.onlyCommit(prefix, found)
}

// onlyCommit takes the commit or tag among objects of one beginning, where there is just one.
func (r *Repo) onlyCommit(prefix string, found map[string]bool) (string, error) {
	only := ""
	for name := range found {
		if o, err := r.object(name); err != nil || o.kind != kindCommit && o.kind != kindTag {
			continue
		}
		if only != "" || len(found) > maxHops {
			return "", fmt.Errorf("revision %s begins the names of several objects", prefix)
		}
		only = name
	}
	if only == "" {
		return "", fmt.Errorf("revision %s: %w", prefix, ErrNotFound)
	}
	return only, nil
}
