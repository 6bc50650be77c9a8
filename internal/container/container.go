// Package container looks into files that hold other files or compressed text: zip and what is one (docx, xlsx, pptx, odt,
// jar), tar, gzip, bzip2, zstd, and the compressed streams of PDF.
//
// The one rule: whoever wrote the file is a stranger, so everything is bounded: depth, entries, bytes, time. What is not
// looked into is said, with the reason; nothing is taken apart in memory that could be large.
package container

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits bound what is looked into.
type Limits struct {
	Depth   int   // of a file in a file in a file
	Entries int   // members and streams, in all
	Bytes   int64 // of all that was unpacked
	Ratio   int64 // of what was unpacked to the size of the file, once Free bytes are past
	Free    int64
}

// Default is what an artifact is looked into with.
var Default = Limits{Depth: 4, Entries: 10_000, Bytes: 1 << 30, Ratio: 200, Free: 64 << 20}

// ErrLimit is in the tree of an error that says which limit a file is beyond.
var ErrLimit = errors.New("not looked into")

// Visitor is given, one by one, what a file holds: the name of a member and its bytes, to their end or not. Its error ends
// the look.
type Visitor func(name string, body io.Reader) error

// Report says what a look did not see.
type Report struct {
	Kind   string   // zip | tar | gzip | bzip2 | zstd | pdf; "" for what holds nothing
	Unread []string // why a part was not looked into: it is encrypted, broken, or of a kind that joy does not know
}

const maxUnread = 8 // reasons of one file that are told

// Look visits what a file of so many bytes holds, at any depth, and not the file itself. The error is of kind ErrLimit, ctx's,
// the visitor's or the file's own.
func Look(ctx context.Context, f io.ReaderAt, size int64, limits Limits, visit Visitor) (Report, error) {
	l := &look{ctx: ctx, limits: limits, visit: visit}
	l.most = min(limits.Bytes, max(size, 1)*limits.Ratio+limits.Free)
	head := make([]byte, sniffed)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Report{}, err
	}
	kind := sniff(head[:n])
	if kind == "" && isZip(f, size) {
		kind = kindZip // behind a program that unpacks it, say
	}
	err = l.open(kind, "", io.NewSectionReader(f, 0, size), 1)
	return Report{Kind: kind, Unread: l.unread}, err
}

// look is one walk through a file.
type look struct {
	ctx     context.Context //nolint:containedctx // of the one call of Look
	limits  Limits
	visit   Visitor
	most    int64 // bytes to unpack
	bytes   int64
	entries int
	unread  []string
}

// fault is an error that is not the file's doing.
type fault struct{ error }

func (f fault) Unwrap() error { return f.error }

// open visits what a file of a kind holds. What is wrong with the file is noted.
func (l *look) open(kind, name string, r *io.SectionReader, depth int) error {
	_, err := r.Seek(0, io.SeekStart)
	if err == nil {
		err = l.unpack(kind, name, r, depth)
	}
	var ours fault
	if err == nil || errors.As(err, &ours) || errors.Is(err, ErrLimit) || l.ctx.Err() != nil {
		return errors.Join(err, l.ctx.Err())
	}
	l.note("the "+kind+" is broken", name)
	return nil
}

func (l *look) unpack(kind, name string, r *io.SectionReader, depth int) error {
	switch kind {
	case "":
		return nil
	case kindZip:
		return l.zip(name, r, depth)
	case kindPDF:
		return l.pdf(name, r)
	}
	return l.stream(kind, name, r, depth)
}

// member visits one thing that a file holds, and then what that holds.
func (l *look) member(name string, body io.Reader, depth int) error {
	if l.entries++; l.entries > l.limits.Entries {
		return fmt.Errorf("%w: it holds more than %d files", ErrLimit, l.limits.Entries)
	}
	counted := &meter{look: l, r: body}
	in := bufio.NewReaderSize(counted, 32<<10)
	head, _ := in.Peek(sniffed) // its error comes again
	kind := sniff(head)
	if kind == "" {
		if err := l.visit(name, in); err != nil {
			return l.blame(counted, err)
		}
		_, err := io.Copy(io.Discard, in)
		return err
	}
	if depth >= l.limits.Depth {
		return fmt.Errorf("%w: it is nested more than %d deep", ErrLimit, l.limits.Depth)
	}
	f, err := os.CreateTemp("", "joy-member-*")
	if err != nil {
		return fault{err}
	}
	_ = os.Remove(f.Name()) // where an open file can lose its name
	defer os.Remove(f.Name())
	defer f.Close()
	size, err := io.Copy(f, in)
	if err != nil {
		return l.blame(counted, err)
	}
	whole := io.NewSectionReader(f, 0, size)
	if err := l.visit(name, whole); err != nil {
		return fault{err}
	}
	return l.open(kind, name, whole, depth+1)
}

// blame tells an error of what is read from one of who reads it.
func (l *look) blame(m *meter, err error) error {
	if m.err != nil && errors.Is(err, m.err) {
		return err
	}
	return fault{err}
}

// note says that a part was not looked into.
func (l *look) note(why, name string) {
	if name != "" {
		why += ": " + name
	}
	if len(l.unread) < maxUnread {
		l.unread = append(l.unread, why)
	}
}

// meter counts what is unpacked and ends it at the limits.
type meter struct {
	look *look
	r    io.Reader
	err  error
}

func (m *meter) Read(p []byte) (int, error) {
	if m.err = m.look.ctx.Err(); m.err != nil {
		return 0, m.err
	}
	n, err := m.r.Read(p)
	if m.look.bytes += int64(n); m.look.bytes > m.look.most {
		err = fmt.Errorf("%w: it unpacks to more than %d bytes", ErrLimit, m.look.most)
	}
	if err != nil {
		m.err = err
	}
	return n, err
}

// sniffed is how many bytes tell what a file is.
const sniffed = 1024

// The kinds of files that are looked into.
const (
	kindZip   = "zip"
	kindTar   = "tar"
	kindGzip  = "gzip"
	kindBzip2 = "bzip2"
	kindZstd  = "zstd"
	kindPDF   = "pdf"
)

// sniff tells by its first bytes what a file is.
func sniff(head []byte) string {
	for magic, kind := range map[string]string{
		"PK\x03\x04": kindZip, "PK\x05\x06": kindZip, "\x1f\x8b\x08": kindGzip, "BZh": kindBzip2, "\x28\xb5\x2f\xfd": kindZstd,
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return kind
		}
	}
	switch {
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return kindTar
	case bytes.Contains(head, []byte("%PDF-")):
		return kindPDF
	}
	return ""
}
