package guest

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"
)

// fileTime is the time of every file that joy puts into a world, so that a run is repeatable.
var fileTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// put unpacks the host's tar below /workspace. os.Root keeps it there even when an earlier command left links behind.
func (w *world) put(dir string, r io.Reader) error {
	root, err := os.OpenRoot(filepath.Join(w.dir, "workspace"))
	if err != nil {
		return err
	}
	defer root.Close()
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the host's files: %w", err)
		}
		if h.Typeflag != tar.TypeReg {
			return fmt.Errorf("putting %q: not a regular file", h.Name)
		}
		if err := putFile(root, path.Join(dir, h.Name), h, tr); err != nil {
			return fmt.Errorf("putting %q: %w", h.Name, err)
		}
	}
}

func putFile(root *os.Root, name string, h *tar.Header, r io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(os.FileMode(h.Mode).Perm()); err != nil { //nolint:gosec // permission bits only
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return root.Chtimes(name, fileTime, fileTime)
}
