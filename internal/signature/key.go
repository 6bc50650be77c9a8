package signature

import (
	"io"

	"github.com/joystream-ai/joy/internal/notekey"
)

// Key is an author's private key.
type Key = notekey.Key

// PublicKey is the half that others check with.
type PublicKey = notekey.Public

// ParsePublic reads a public key of an author.
func ParsePublic(text string) (PublicKey, error) { return notekey.Author.Parse(text) }

// ReadKey reads an author's key file. The error wraps fs.ErrNotExist when there is none.
func ReadKey(path string) (Key, error) { return notekey.Author.Read(path) }

// NewKey makes a key for a person of that name and writes it to path. The error wraps fs.ErrExist when there is a file.
func NewKey(path, name string, random io.Reader) (Key, error) {
	return notekey.Author.New(path, name, random)
}
