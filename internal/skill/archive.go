package skill

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
)

// Bounds of looking into an archive. Names are read, contents never; an archive within an archive stays closed.
const (
	maxMembers  = 10_000
	maxUnpacked = 64 << 20 // bytes of a compressed tar that are unpacked to reach its names
)

// archiveRisks looks at the names inside an archive of the bundle.
func (b *Bundle) archiveRisks(name string, data []byte, r *report) {
	var bad, locked string
	var err error
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		bad, locked, err = zipRisks(data)
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		var unpacked io.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			bad, err = tarRisks(unpacked)
		}
	case bytes.HasPrefix(data, []byte("BZh")):
		bad, err = tarRisks(bzip2.NewReader(bytes.NewReader(data)))
	case len(data) > 262 && string(data[257:262]) == "ustar":
		bad, err = tarRisks(bytes.NewReader(data))
	default:
		return
	}
	file := path.Join(b.Dir, name)
	if bad != "" {
		r.add(SeverityError, RuleArchive, file, place{}, "a member would be unpacked outside of the archive's directory: "+shorten(bad))
	}
	if locked != "" {
		r.add(SeverityWarning, RuleLockedArchive, file, place{}, "it is protected with a password and cannot be looked into: "+shorten(locked))
	}
	if err != nil {
		r.note(RuleUnread, file, "the archive could not be looked through to its end: %v", err)
	}
}

// zipRisks returns the first member that leaves the archive and the first that is encrypted.
func zipRisks(data []byte) (bad, locked string, err error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if z == nil {
		return "", "", err
	}
	for _, f := range z.File[:min(len(z.File), maxMembers)] {
		if bad == "" && leaves(f.Name) {
			bad = f.Name
		}
		if locked == "" && f.Flags&1 != 0 {
			locked = f.Name
		}
	}
	if bad != "" {
		err = nil // the library says the same of insecure names
	}
	return bad, locked, err
}

// tarRisks returns the first member, or target of a link, that leaves the archive. What is no tar has no members.
func tarRisks(r io.Reader) (bad string, err error) {
	t := tar.NewReader(io.LimitReader(r, maxUnpacked))
	for range maxMembers {
		h, err := t.Next()
		switch {
		case h != nil && leaves(h.Name):
			return h.Name, nil
		case h != nil && (h.Typeflag == tar.TypeLink && leaves(h.Linkname) ||
			h.Typeflag == tar.TypeSymlink && (path.IsAbs(h.Linkname) || leaves(h.Linkname) &&
				leaves(path.Join(path.Dir(h.Name), h.Linkname)))): //nolint:gosec // the joined path is judged, and nothing is unpacked
			return h.Name + " → " + h.Linkname, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, tar.ErrHeader):
			return "", nil // the end, ours or the archive's; or one compressed file and no archive
		case err != nil:
			return "", err
		}
	}
	return "", nil
}

// leaves reports a name that leads out of the directory that it is joined to, on any system.
func leaves(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	if path.IsAbs(name) || len(name) > 1 && name[1] == ':' {
		return true
	}
	clean := path.Clean(name)
	return clean == ".." || strings.HasPrefix(clean, "../")
}
