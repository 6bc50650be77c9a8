package artifact

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path"

	"github.com/joystream-ai/joy/internal/fault"
)

// PutBytes stores b. See Put.
func (s *Store) PutBytes(b []byte) (Object, error) { return s.Put(bytes.NewReader(b)) }

// Put stores what r gives until its end and returns once it is durable. Memory does not grow with the size; the
// caller bounds that. Bytes that are stored already are written anew under the same name, which heals a damaged
// object. After an error nothing was stored, and an error of r is in its tree.
func (s *Store) Put(r io.Reader) (Object, error) { return s.put(r, true) }

// PutSoon stores b as Put does, but leaves it to the system when it is durable. Whoever reads it finds it whatever becomes
// of joy; only when the machine itself stops within seconds it may be missing or, which a reader notices, not whole. It
// is for many small bodies whose digests are on record by themselves: to wait for the disk costs more than all the rest.
func (s *Store) PutSoon(b []byte) (Object, error) { return s.put(bytes.NewReader(b), false) }

func (s *Store) put(r io.Reader, durable bool) (Object, error) {
	temp := path.Join(tempDir, rand.Text())
	obj, err := s.write(temp, r, durable)
	if err == nil {
		err = s.publish(temp, obj.Digest, durable)
	}
	if err != nil {
		_ = s.root.Remove(temp) // already gone when the write failed to begin; else swept by a later Open
		return Object{}, fault.Wrap(fault.Platform, err, "store object")
	}
	return obj, nil
}

// write fills a new temporary file.
func (s *Store) write(temp string, r io.Reader, durable bool) (Object, error) {
	f, err := s.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return Object{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), r)
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return Object{}, err
	}
	return Object{Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: n}, nil
}

// publish gives the file its name, in one step, and makes the name durable when it is asked to.
func (s *Store) publish(temp, digest string, durable bool) error {
	dir, name, err := place(digest)
	if err != nil {
		return err
	}
	if err := s.mkdir(dir); err != nil {
		return err
	}
	if err := s.root.Rename(temp, name); err != nil || !durable {
		return err
	}
	return s.syncDir(dir)
}
