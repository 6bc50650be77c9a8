package image

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/joystream-ai/joy/internal/ordinary"
)

// maxManifest caps manifest.json, in bytes: a base image has 200 packages in 40 KB.
const maxManifest = 4 << 20

// fileName is every name a file of an image can have, so that a manifest cannot name a path elsewhere.
var (
	fileName   = regexp.MustCompile(`^(kernel|root\.squashfs|modules/[0-9]{2}-[a-z0-9_]{1,64}\.ko)$`)
	hexDigest  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	plainWord  = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	namedImage = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// encode gives the manifest's bytes: the same for the same manifest, on any machine.
func (m Manifest) encode() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	return append(b, '\n'), nil
}

// decodeManifest reads a manifest that anybody may have written. What it accepts is exactly what encode writes: a
// manifest with other bytes for the same meaning is refused, so that a digest has one manifest.
func decodeManifest(b []byte) (Manifest, error) {
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	if err := m.check(); err != nil {
		return Manifest{}, err
	}
	again, err := m.encode()
	if err != nil {
		return Manifest{}, err
	}
	if !bytes.Equal(again, b) {
		return Manifest{}, fmt.Errorf("read the manifest: not in the form joy writes")
	}
	return m, nil
}

func (m Manifest) check() error {
	if m.Schema != Schema {
		return fmt.Errorf("read the manifest: schema %q, want %q", m.Schema, Schema)
	}
	if !plainWord.MatchString(m.Profile) || !plainWord.MatchString(m.Arch) {
		return fmt.Errorf("read the manifest: bad profile %q or arch %q", m.Profile, m.Arch)
	}
	if err := m.checkText(); err != nil {
		return err
	}
	last := ""
	for _, f := range m.Files {
		if !fileName.MatchString(f.Name) {
			return fmt.Errorf("read the manifest: bad file name %q", f.Name)
		}
		if f.Name <= last {
			return fmt.Errorf("read the manifest: file %q is out of order", f.Name)
		}
		if f.Size < 0 || !hexDigest.MatchString(f.SHA256) {
			return fmt.Errorf("read the manifest: bad size or digest of %s", f.Name)
		}
		last = f.Name
	}
	for _, need := range []string{KernelFile, RootFile} {
		if !m.has(need) {
			return fmt.Errorf("read the manifest: no %s", need)
		}
	}
	if id := m.ID(); m.Digest != id {
		return fmt.Errorf("read the manifest: it calls itself %q, its files make it %s", m.Digest, id)
	}
	return nil
}

// maxText caps one word of a manifest, in bytes.
const maxText = 256

// checkText keeps out what would move a terminal's cursor or be taken for another name.
func (m Manifest) checkText() error {
	words := append([]string{m.Kernel}, m.Programs...)
	for _, p := range m.Packages {
		words = append(words, p.Name, p.Version, p.Arch, p.From)
		if p.SHA256 != "" && !hexDigest.MatchString(p.SHA256) {
			return fmt.Errorf("read the manifest: bad digest of package %q", p.Name)
		}
	}
	for _, l := range m.LeftOut {
		words = append(words, l.Name, l.Reason)
	}
	for _, w := range words {
		if len(w) > maxText || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("read the manifest: bad text %q", w)
		}
	}
	if !slices.IsSorted(m.Programs) {
		return fmt.Errorf("read the manifest: the programs are out of order")
	}
	return nil
}

func (m Manifest) has(name string) bool {
	for _, f := range m.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}

// open reads the image in dir: the manifest whole, of the other files only that they are there in full size. dir's
// own name must be the digest's hex.
func open(dir string) (Image, error) {
	b, err := ordinary.Read(filepath.Join(dir, manifestFile), maxManifest)
	if err != nil {
		return Image{}, err
	}
	m, err := decodeManifest(b)
	if err != nil {
		return Image{}, err
	}
	if filepath.Base(dir) != strings.TrimPrefix(m.Digest, "sha256:") {
		return Image{}, fmt.Errorf("the manifest is of %s", m.Digest)
	}
	for _, f := range m.Files {
		st, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil {
			return Image{}, err
		}
		if !st.Mode().IsRegular() || st.Size() != f.Size {
			return Image{}, fmt.Errorf("%s has %d bytes, the manifest says %d", f.Name, st.Size(), f.Size)
		}
	}
	return Image{Dir: dir, Manifest: m}, nil
}
