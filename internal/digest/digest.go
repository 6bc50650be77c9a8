// Package digest names content: bytes, JSON values and the files of a bundle.
//
// The one rule: a name depends on the content alone. Never on a time, a size reported by the file system, the order
// of a directory, the host's line ends or its spelling of accents; and bytes that were named are the bytes handed on,
// from one read.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// prefix names the algorithm; there is one, and a second would be a new version of the lock.
const prefix = "sha256:"

// Bytes names b: "sha256:" and 64 lower-case hex digits.
func Bytes(b []byte) string {
	return prefix + sum(b)
}

// Reader names what r yields until EOF and says how many bytes that was. It does not close r and has no limit of its
// own: a caller who reads from a stranger bounds r.
func Reader(r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err != nil {
		return "", n, fmt.Errorf("hash a stream: %w", err)
	}
	return prefix + hex.EncodeToString(h.Sum(nil)), n, nil
}

// Valid reports whether s is spelled as Bytes spells a name. There is one spelling, so names compare as strings.
func Valid(s string) bool {
	hexed, ok := strings.CutPrefix(s, prefix)
	return ok && validSum(hexed)
}

// sum is the bare hex form, as a File keeps it.
func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func validSum(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
