package guest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// privateDirs are a world's own where the kernel has no overlay; the rest of the image is read-only there. Each must be
// in the image, or be in its root.
var privateDirs = []string{"tmp", "root", "run", "var/tmp"}

const privateWords = "/tmp, /root, /run and /var/tmp"

// buildPrivate makes a world's root without an overlay: the image's directories, bound one by one, and over them the VM's
// own files and the private directories, which are below dir.
func buildPrivate(root, dir string) error {
	const safe = unix.MS_NODEV | unix.MS_NOSUID
	if err := (mount{"world", root, "tmpfs", safe, "mode=0755,size=1m"}).make(); err != nil {
		return err
	}
	names, err := os.ReadDir(dirImage)
	if err != nil {
		return err
	}
	for _, e := range names {
		from, to := filepath.Join(dirImage, e.Name()), filepath.Join(root, e.Name())
		switch {
		case slices.Contains([]string{"proc", "sys", "dev", "workspace", filepath.Base(dirDisk)}, e.Name()):
		case e.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(from)
			if err == nil {
				err = os.Symlink(link, to)
			}
			if err != nil {
				return err
			}
		case e.IsDir():
			if err := errors.Join(os.Mkdir(to, 0o755), bind(from, to, unix.MS_RDONLY|safe)); err != nil {
				return err
			}
		}
	}
	for _, name := range privateDirs {
		if err := own(root, dir, name); err != nil {
			return err
		}
	}
	return overImage(root)
}

// own puts a directory of the world's own over one of the image.
func own(root, dir, name string) error {
	mode := os.FileMode(0o755)
	if filepath.Base(name) == "tmp" {
		mode = 0o777 | os.ModeSticky
	}
	from := filepath.Join(dir, "upper", name)
	if err := errors.Join(os.MkdirAll(from, 0o755), os.Chmod(from, mode)); err != nil {
		return err
	}
	to := filepath.Join(root, name)
	if info, err := os.Lstat(to); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil // it leads to one of the others, or to what is read-only
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil //nolint:nilerr // the image lacks it, and it is read-only there
	}
	return bind(from, to, unix.MS_NODEV|unix.MS_NOSUID)
}

// overImage binds each of the VM's own files over the image's of that name. One that the image lacks is left out.
func overImage(root string) error {
	return filepath.WalkDir(dirVM, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rest, err := filepath.Rel(dirVM, path)
		if err != nil {
			return err
		}
		to := filepath.Join(root, rest)
		if info, err := os.Lstat(to); err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // as said
		}
		return bind(path, to, unix.MS_RDONLY|unix.MS_NODEV|unix.MS_NOSUID)
	})
}
