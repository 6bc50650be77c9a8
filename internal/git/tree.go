package git

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
)

// File reads the file at path (relative to the work tree, forward slashes) as commit c has it, without the conversions
// that a checkout would make. The error wraps ErrNotFound when the commit has no such file.
func (r *Repo) File(c Commit, path string) ([]byte, error) {
	o, err := r.typed(string(c), kindCommit)
	if err != nil {
		return nil, err
	}
	name, ok := header(o.data, "tree")
	if !ok {
		return nil, fmt.Errorf("commit %.12s has no tree", c)
	}
	elements := strings.Split(path, "/")
	for i, element := range elements {
		tree, err := r.typed(name, kindTree)
		if err != nil {
			return nil, err
		}
		mode, next, err := entry(tree.data, element, len(name)/2)
		if err != nil {
			return nil, fmt.Errorf("read the tree %.12s: %w", name, err)
		}
		last := i == len(elements)-1
		switch {
		case mode == "":
			return nil, fmt.Errorf("%s in %.12s: %w", path, c, ErrNotFound)
		case last && !strings.HasPrefix(mode, "100"), !last && mode != "40000":
			return nil, fmt.Errorf("%s in %.12s is not an ordinary file", path, c)
		}
		name = next
	}
	blob, err := r.typed(name, kindBlob)
	return blob.data, err
}

// entry looks for one name in a tree: entries of mode, space, name, NUL and a hash of size bytes. Mode is "" when it is
// not there.
func entry(tree []byte, want string, size int) (mode, hash string, err error) {
	for len(tree) > 0 {
		head, rest, ok := bytes.Cut(tree, []byte{0})
		if !ok || len(rest) < size {
			return "", "", errObject
		}
		mode, name, ok := strings.Cut(string(head), " ")
		if !ok {
			return "", "", errObject
		}
		if name == want {
			return mode, hex.EncodeToString(rest[:size]), nil
		}
		tree = rest[size:]
	}
	return "", "", nil
}
