package image

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// searchPath is where a step looks for programs: the PATH it starts with.
var searchPath = []string{"usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"}

// maxLinks is how many symbolic links one name may lead through, as for the kernel, path_resolution(7).
const maxLinks = 40

// survey is what a build has to know of the root that was made.
type survey struct {
	newest   time.Time // of the newest file that came out of a package
	programs []string  // names on PATH, sorted
}

// surveyRoot reads the tar of a root. What was made after start is no file of a package.
func surveyRoot(file string, start time.Time) (survey, error) {
	f, err := os.Open(file)
	if err != nil {
		return survey{}, err
	}
	defer f.Close()
	var s survey
	entries := map[string]*tar.Header{}
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return survey{}, err
		}
		if h.ModTime.Before(start) && h.ModTime.After(s.newest) {
			s.newest = h.ModTime
		}
		entries[path.Clean("/" + h.Name)[1:]] = h
	}
	if s.newest.IsZero() {
		return survey{}, errors.New("no file in it came out of a package")
	}
	s.programs = programsOf(entries)
	return s, nil
}

// programsOf gives the names on PATH that lead to something that can be started.
func programsOf(entries map[string]*tar.Header) []string {
	names := map[string]bool{}
	for name, h := range entries {
		if h.Typeflag == tar.TypeDir || !slices.Contains(searchPath, path.Dir(name)) {
			continue
		}
		if end := resolve(entries, name, maxLinks); end != nil && end.Typeflag == tar.TypeReg && end.Mode&0o111 != 0 {
			names[path.Base(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// resolve follows name to what it leads to in the tree, through links in any part of it; nil when that is nothing.
func resolve(entries map[string]*tar.Header, name string, left int) *tar.Header {
	parts := strings.Split(name, "/")
	for i := range parts {
		prefix := strings.Join(parts[:i+1], "/")
		h := entries[prefix]
		if h == nil {
			continue // a directory that the tar does not name
		}
		target := ""
		switch h.Typeflag {
		case tar.TypeSymlink:
			target = path.Join("/", path.Dir(prefix), h.Linkname)[1:] //nolint:gosec // a key of entries: nothing is extracted
			if path.IsAbs(h.Linkname) {
				target = path.Clean(h.Linkname)[1:]
			}
		case tar.TypeLink:
			target = path.Clean("/" + h.Linkname)[1:]
		default:
			continue
		}
		if left == 0 {
			return nil
		}
		return resolve(entries, path.Join(append([]string{target}, parts[i+1:]...)...), left-1)
	}
	return entries[name]
}
