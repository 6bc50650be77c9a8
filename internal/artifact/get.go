package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/joystream-ai/joy/internal/fault"
)

// List is the size of each object, in bytes, by its digest, without reading any. What is no object is passed over.
func (s *Store) List() (map[string]int64, error) {
	sizes := map[string]int64{}
	err := fs.WalkDir(s.root.FS(), "sha256", func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		digest := "sha256:" + path.Base(name)
		if _, at, err := place(digest); err != nil || at != name {
			return nil //nolint:nilerr // nobody finds it by a digest
		}
		info, err := e.Info()
		if err == nil {
			sizes[digest] = info.Size()
		}
		return err
	})
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "list the objects")
	}
	return sizes, nil
}

// Open reads an object. Its bytes are checked as they are read: when they are not those of the digest, the last Read
// fails with ErrDigest in place of io.EOF, so who needs whole bytes must read to the end before using any.
// The caller closes it.
func (s *Store) Open(digest string) (io.ReadCloser, error) {
	name, err := s.look(digest)
	if err != nil {
		return nil, err
	}
	f, err := s.root.Open(name)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "open object")
	}
	opened, err := f.Stat()
	if err == nil && !opened.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, errors.Join(fault.Wrap(fault.Platform, err, "open object"), f.Close())
	}
	return &object{file: f, sum: sha256.New(), digest: digest}, nil
}

// look finds an object's file and refuses anything but a regular one.
func (s *Store) look(digest string) (string, error) {
	_, name, err := place(digest)
	if err != nil {
		return "", err
	}
	info, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.Wrap(fault.Input, fs.ErrNotExist, "object %s is not in the store", digest)
	}
	if err != nil {
		return "", fault.Wrap(fault.Platform, err, "find object")
	}
	if !info.Mode().IsRegular() {
		return "", fault.New(fault.Ledger, "object %s is not a regular file", digest)
	}
	return name, nil
}

// object reads a file and hashes along.
type object struct {
	file   *os.File
	sum    hash.Hash
	digest string
}

func (o *object) Read(p []byte) (int, error) {
	n, err := o.file.Read(p)
	o.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && "sha256:"+hex.EncodeToString(o.sum.Sum(nil)) != o.digest {
		return n, fault.Wrap(fault.Ledger, ErrDigest, "read object %s", o.digest)
	}
	return n, err
}

func (o *object) Close() error { return o.file.Close() }
