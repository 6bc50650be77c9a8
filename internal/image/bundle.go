package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/joystream-ai/joy/internal/ordinary"
)

// Limits on an archive that is imported.
const (
	maxBundleEntries = 1024
	maxIndexText     = 1 << 20  // of an OCI index or manifest, in bytes
	maxImageSize     = 32 << 30 // of the files of one image together, in bytes
)

// bundle is an archive that Export, or somebody else, wrote. Nothing of it is taken by its name: names only say where
// in the archive the bytes of a digest are to be found, and which those are the manifest says.
type bundle struct {
	f       *os.File
	entries map[string]section
}

type section struct{ at, size int64 }

// openBundle reads the table of an archive. close the bundle in the end.
func openBundle(file string) (b *bundle, err error) {
	f, err := ordinary.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if err := unpacked(f); err != nil {
		return nil, err
	}
	b = &bundle{f: f, entries: map[string]section{}}
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, errors.New("the archive is cut off")
		case err != nil:
			return nil, fmt.Errorf("not an archive of an image: %w", err)
		}
		if err := b.note(h, st.Size()); err != nil {
			return nil, err
		}
	}
}

// unpacked refuses what was packed once more after it was exported.
func unpacked(f *os.File) error {
	head := make([]byte, 6)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for begins, tool := range map[string]string{"\x1f\x8b": "gunzip", "\x28\xb5\x2f\xfd": "unzstd", "\xfd7zXZ\x00": "unxz"} {
		if bytes.HasPrefix(head[:n], []byte(begins)) {
			return fmt.Errorf("the archive is compressed: use %s first", tool)
		}
	}
	return nil
}

// note keeps where an entry's bytes are. h is the entry the file stands at.
func (b *bundle) note(h *tar.Header, size int64) error {
	name := strings.TrimSuffix(h.Name, "/")
	if !cleanName(name) {
		return fmt.Errorf("the archive has the name %q", h.Name)
	}
	if h.Typeflag == tar.TypeDir {
		return nil
	}
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("%q in the archive is no ordinary file", h.Name)
	}
	if _, twice := b.entries[name]; twice {
		return fmt.Errorf("%q is in the archive twice", name)
	}
	if len(b.entries) == maxBundleEntries {
		return fmt.Errorf("the archive has more than %d files", maxBundleEntries)
	}
	at, err := b.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if h.Size > size-at {
		return fmt.Errorf("the archive is cut off: %q has %d bytes of %d", name, size-at, h.Size)
	}
	b.entries[name] = section{at, h.Size}
	return nil
}

// cleanName says whether name is a plain path below the archive's root.
func cleanName(name string) bool {
	return name != "" && name != ".." && !strings.HasPrefix(name, "../") && !path.IsAbs(name) && path.Clean(name) == name &&
		!strings.ContainsAny(name, "\\\x00")
}

func (b *bundle) close() { b.f.Close() }

// open gives the bytes of an entry.
func (b *bundle) open(name string) (*io.SectionReader, error) {
	s, ok := b.entries[name]
	if !ok {
		return nil, fmt.Errorf("the archive has no %s", name)
	}
	return io.NewSectionReader(b.f, s.at, s.size), nil
}

func (b *bundle) read(name string, limit int64) ([]byte, error) {
	r, err := b.open(name)
	if err != nil {
		return nil, err
	}
	if r.Size() > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return io.ReadAll(r)
}

// image gives the manifest of the image in the archive and where each of its files is.
func (b *bundle) image() (m Manifest, place func(File) string, err error) {
	text, place := []byte(nil), func(f File) string { return f.Name }
	if _, oci := b.entries[layoutFile]; oci {
		place = func(f File) string { return blobPrefix + f.SHA256 }
		text, err = b.artifact()
	} else if _, ok := b.entries[manifestFile]; ok {
		text, err = b.read(manifestFile, maxManifest)
	} else {
		err = errors.New("not an archive of an image: it has neither manifest.json nor oci-layout")
	}
	if err == nil {
		m, err = decodeManifest(text)
	}
	if err != nil {
		return Manifest{}, nil, err
	}
	var total int64
	for _, f := range m.Files {
		s, ok := b.entries[place(f)]
		if !ok {
			return Manifest{}, nil, fmt.Errorf("the archive has no %s", f.Name)
		}
		if s.size != f.Size {
			return Manifest{}, nil, fmt.Errorf("%s has %d bytes, the manifest says %d", f.Name, s.size, f.Size)
		}
		if total += f.Size; f.Size > maxImageSize || total > maxImageSize {
			return Manifest{}, nil, fmt.Errorf("the image is larger than %d bytes", int64(maxImageSize))
		}
	}
	return m, place, nil
}

// artifact finds the manifest of the image in an OCI archive.
func (b *bundle) artifact() ([]byte, error) {
	text, err := b.read(indexFile, maxIndexText)
	if err != nil {
		return nil, err
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", indexFile, err)
	}
	for _, d := range index.Manifests {
		if d.ArtifactType != artifactType {
			continue
		}
		if text, err = b.blob(d.Digest, maxIndexText); err != nil {
			return nil, err
		}
		artifact, err := v1.ParseManifest(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("read blob %s: %w", d.Digest, err)
		}
		return b.blob(artifact.Config.Digest, maxManifest)
	}
	return nil, errors.New("an OCI archive without the files of a VM: only what joy image export wrote can be imported")
}

// blob reads a blob and compares it with its name.
func (b *bundle) blob(name v1.Hash, limit int64) ([]byte, error) {
	if name.Algorithm != "sha256" || !hexDigest.MatchString(name.Hex) {
		return nil, fmt.Errorf("bad digest %q", name)
	}
	text, err := b.read(blobPrefix+name.Hex, limit)
	if err != nil {
		return nil, err
	}
	if got, _, err := v1.SHA256(bytes.NewReader(text)); err != nil || got != name {
		return nil, fmt.Errorf("blob %s is %s", name, got)
	}
	return text, nil
}
