package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A layer is what a world has written over the image, kept after its end. Overlayfs reads it as it wrote it: what was
// removed is there as whiteouts, and owners, modes and extended attributes are the inodes' own. As a lower layer it is
// read-only to every world above it, and no process that wrote it is left.

// layerPath is where a layer of that name is. The name becomes a path and a part of mount(2)'s list.
func layerPath(name string) (string, error) {
	if !validID(name) {
		return "", fmt.Errorf("layer %q", name)
	}
	return filepath.Join(dirScratch, "layers", name), nil
}

// layers turns the host's list, nearest last, into overlayfs's, nearest first. The VM's own layer and the image lie
// below all of them.
func layers(names []string) ([]string, error) {
	lower := []string{dirVM, dirImage}
	for _, name := range names {
		path, err := layerPath(name)
		if err != nil {
			return nil, err
		}
		lower = append([]string{path}, lower...)
	}
	return lower, nil
}

// freeLayer holds that a layer can still be given that name: one that worlds lie on is never replaced.
func freeLayer(name string) error {
	path, err := layerPath(name)
	if err == nil && exists(path) {
		err = fmt.Errorf("layer %q exists", name)
	}
	return err
}

// keepLayer makes an upper directory, which nothing is mounted on any more, the layer of that name.
func keepLayer(upper, name string) error {
	path, err := layerPath(name)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return err
	}
	// Never over another: two worlds may have been told the same name.
	err = unix.Renameat2(unix.AT_FDCWD, upper, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("layer %q exists", name)
	}
	return err
}
