package image

import (
	"archive/tar"
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// Formats of an exported image. Import reads both and makes the same image of either.
const (
	FormatFile = "file" // a tar of manifest.json and the image's files, in the manifest's order
	FormatOCI  = "oci"  // an OCI image layout as a tar: a container image and, beside it, the image's files
)

// Formats are the formats Export writes.
var Formats = []string{FormatFile, FormatOCI}

// ExportOptions say how to export.
type ExportOptions struct {
	Format string // "" = FormatFile
	// TempDir takes the layer of an OCI archive while it is written: about the size of the image. "" = os.TempDir.
	TempDir  string
	Progress func(Progress) // may be nil
	// Container is told the digest of the container image in an OCI archive, which a lock pins for Kata. May be nil.
	Container func(digest string)
}

// Export writes an image as one file that Import reads on any machine. The same image gives the same bytes. The image
// is compared with its digests first: a damaged one is an error of kind drift, with nothing written to w.
func Export(ctx context.Context, img Image, w io.Writer, o ExportOptions) error {
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	e := &exporter{ctx: ctx, img: img, tell: o.Progress, tw: tar.NewWriter(w)}
	write := e.file
	switch o.Format {
	case "", FormatFile:
	case FormatOCI:
		write = func() error { return e.oci(o.TempDir) }
	default:
		return fault.New(fault.Input, "unknown format %q", o.Format).WithHint("use one of: %s", strings.Join(Formats, ", "))
	}
	phase(o.Progress, "comparing the image with its digests", 0)
	if err := Verify(img); err != nil {
		return err
	}
	err := write()
	if err == nil {
		err = e.tw.Close()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "export image %s", img.Digest())
	}
	if o.Container != nil && e.container != "" {
		o.Container(e.container)
	}
	return nil
}

type exporter struct {
	ctx  context.Context
	img  Image
	tell func(Progress)
	tw   *tar.Writer

	container string // digest of the container image, once it is written
}

// exportTime dates the entries of an archive: when it was written is no part of what it is.
var exportTime = time.Unix(0, 0).UTC()

func (e *exporter) file() error {
	text, err := e.img.Manifest.encode()
	if err != nil {
		return err
	}
	if err := e.bytes(manifestFile, text); err != nil {
		return err
	}
	at := phase(e.tell, "writing the image", e.img.Size())
	for _, f := range e.img.Manifest.Files {
		if err := e.copyFile(at, f.Name, filepath.Join(e.img.Dir, filepath.FromSlash(f.Name)), f.Size); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) bytes(name string, b []byte) error {
	if err := e.head(name, int64(len(b))); err != nil {
		return err
	}
	_, err := e.tw.Write(b)
	return err
}

func (e *exporter) head(name string, size int64) error {
	return e.tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o444, ModTime: exportTime})
}

// copyFile adds the file at path, which must have size bytes.
func (e *exporter) copyFile(at *said, name, path string, size int64) error {
	f, err := ordinary.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return e.copy(at, name, f, size)
}

func (e *exporter) copy(at *said, name string, r io.Reader, size int64) error {
	if err := e.head(name, size); err != nil {
		return err
	}
	_, err := io.CopyN(e.tw, at.count(whileAlive(e.ctx, r)), size)
	return err
}

// whileAlive is a reader that ends with ctx.
func whileAlive(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
