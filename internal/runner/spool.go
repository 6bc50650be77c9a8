package runner

import (
	"bytes"
	"errors"
	"hash"
	"io"
	"os"
)

// spool holds the bytes of one file while it is decided whether they may be kept. They are not scrubbed yet, so the
// file loses its name at once where the system allows it, and at the latest when it is closed.
type spool struct {
	*os.File
	size int64
	text bool      // that may be changed: a PDF, whatever its bytes, has offsets in it
	mac  hash.Hash // of its bytes; nil: no key
}

// newSpool reads body to its end. The caller closes the spool.
func (r *run) newSpool(body io.Reader) (_ *spool, err error) {
	f, err := os.CreateTemp(r.LogDir, ".spool-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	s := &spool{File: f, mac: r.mac()}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	var check textCheck
	into := []io.Writer{f, &check}
	if s.mac != nil {
		into = append(into, s.mac)
	}
	if s.size, err = io.Copy(io.MultiWriter(into...), body); err != nil {
		return nil, err
	}
	var head [1024]byte
	n, _ := f.ReadAt(head[:], 0)
	s.text = check.text() && !bytes.Contains(head[:n], []byte("%PDF-"))
	return s, s.rewind()
}

func (s *spool) rewind() error {
	_, err := s.Seek(0, io.SeekStart)
	return err
}

// Close removes the file where an open one could not be.
func (s *spool) Close() error {
	err := s.File.Close()
	_ = os.Remove(s.Name())
	return err
}

// origin tells an error of the body of a file, which is the VM's doing, from one of keeping it.
type origin struct {
	io.Reader
	err error
}

func (o *origin) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		o.err = err
	}
	return n, err
}
