package container

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// isZip says whether a file ends as a zip does (APPNOTE.TXT, section 4.3.16), whatever it begins with.
func isZip(f io.ReaderAt, size int64) bool {
	const most = 22 + 1<<16 // the record and its comment
	tail := make([]byte, min(size, most))
	n, _ := f.ReadAt(tail, size-int64(len(tail)))
	return strings.Contains(string(tail[:n]), "PK\x05\x06")
}

// zip visits the members of a zip, and the comments and names in it. Of a document it also visits the text: a word
// processor cuts a word into as many elements as it likes.
func (l *look) zip(name string, r *io.SectionReader, depth int) error {
	lean := &directory{ReaderAt: r, left: maxDirectory}
	z, err := zip.NewReader(lean, r.Size())
	if err != nil {
		return errors.Join(err, lean.err)
	}
	lean.left = math.MaxInt64
	if err := l.words(name, z.Comment); err != nil {
		return err
	}
	for _, f := range z.File {
		inner := path.Join(name, f.Name) //nolint:gosec // a name to tell, no path to write
		if err := l.words(inner, f.Name+"\n"+f.Comment); err != nil {
			return err
		}
		if f.Flags&1 != 0 {
			l.note("it is encrypted", inner)
			continue
		}
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if err := l.zipMember(f, inner, depth); err != nil {
			return err
		}
	}
	return nil
}

// maxDirectory bounds what is read of the list of a zip's members, in bytes. It becomes some five times that in memory.
const maxDirectory = 4 << 20

// directory is a file of which no more than left bytes are read.
type directory struct {
	io.ReaderAt
	left int64
	err  error
}

func (d *directory) ReadAt(p []byte, at int64) (int, error) {
	if d.left -= int64(len(p)); d.left < 0 {
		d.err = fmt.Errorf("%w: the list of what it holds is longer than %d bytes", ErrLimit, maxDirectory)
		return 0, d.err
	}
	return d.ReaderAt.ReadAt(p, at)
}

func (l *look) zipMember(f *zip.File, name string, depth int) error {
	for _, read := range []func(io.Reader) io.Reader{nil, markupText} {
		if read != nil && !isMarkup(f.Name) {
			continue
		}
		body, err := f.Open()
		if errors.Is(err, zip.ErrAlgorithm) {
			l.note("its compression is not known", name)
			return nil
		}
		if err != nil {
			l.note("it is broken", name)
			return nil
		}
		var in io.Reader = body
		if read != nil {
			in = read(body)
		}
		err = l.member(name, in, depth)
		_ = body.Close()
		if done := l.spoiled(err, name); done != nil {
			return done
		}
	}
	return nil
}

// spoiled notes a member that cannot be read to its end; every other error comes back.
func (l *look) spoiled(err error, name string) error {
	var ours fault
	if err == nil || errors.As(err, &ours) || errors.Is(err, ErrLimit) || l.ctx.Err() != nil {
		return err
	}
	l.note("it is broken", name)
	return nil
}

// words visits what a file says beside its members.
func (l *look) words(name, text string) error {
	if text == "" {
		return nil
	}
	if err := l.visit(name, strings.NewReader(text)); err != nil {
		return fault{err}
	}
	return nil
}

// stream visits what one compressed stream holds, or the members of a tar.
func (l *look) stream(kind, name string, r io.Reader, depth int) error {
	switch kind {
	case kindTar:
		return l.tar(name, r, depth)
	case kindGzip:
		z, err := gzip.NewReader(r)
		if err != nil {
			return err
		}
		if err := l.words(name, z.Name+"\n"+z.Comment); err != nil {
			return err
		}
		return l.member(name, z, depth)
	case kindBzip2:
		return l.member(name, bzip2.NewReader(r), depth)
	}
	const window = 64 << 20 // of memory: what other decoders take too
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return err
	}
	defer z.Close()
	return l.member(name, z, depth)
}

func (l *look) tar(name string, r io.Reader, depth int) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		inner := path.Join(name, h.Name) //nolint:gosec // as above
		var said strings.Builder
		for _, s := range []string{h.Name, h.Linkname, h.Uname, h.Gname} {
			said.WriteString(s + "\n")
		}
		for k, v := range h.PAXRecords {
			said.WriteString(k + "=" + v + "\n")
		}
		if err := l.words(inner, said.String()); err != nil {
			return err
		}
		if err := l.member(inner, t, depth); err != nil {
			return err
		}
	}
}
