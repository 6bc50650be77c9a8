package image

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// initrdForm changes when Initrd writes other bytes for the same image and guest; it is part of the cached name.
const initrdForm = "joy-initrd 2"

// maxModule caps one kernel module, in bytes.
const maxModule = 64 << 20

// InitPath is where joy-guest is in an initrd: below the directory that every step's root file system has as a layer,
// so that it need not be copied there. The kernel is told with rdinit=.
const InitPath = "/vm/usr/local/bin/joy-guest"

// Initrd writes what the kernel unpacks and starts: joy-guest at InitPath, the image's modules in /modules, and
// the device nodes that PID 1 needs before it has mounted anything. The bytes depend on img and guest alone.
// It is not compressed: unpacking costs an emulated CPU more than reading (docs/adr/0007-what-a-boot-unpacks.md).
func Initrd(img Image, guest []byte, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<20)
	c := &cpioWriter{w: out}
	c.dir("dev")
	c.char("dev/console", 0o600, 5, 1)
	c.char("dev/null", 0o666, 1, 3)
	c.dir("modules")
	for _, name := range img.Modules() {
		b, err := ordinary.Read(filepath.Join(img.Dir, filepath.FromSlash(name)), maxModule)
		if err != nil {
			return damaged(img.Digest(), err)
		}
		c.file(name, 0o644, b)
	}
	for _, dir := range []string{"vm", "vm/usr", "vm/usr/local", "vm/usr/local/bin"} {
		c.dir(dir)
	}
	c.file(InitPath[1:], 0o755, guest)
	if err := c.close(); err != nil {
		return fmt.Errorf("write the initrd: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the initrd: %w", err)
	}
	return nil
}

// InitrdPath gives the initrd of img and guest as a file in cacheDir, made on first use. Several processes may ask at
// once: each sees a whole file or none.
func InitrdPath(cacheDir string, img Image, guest []byte) (string, error) {
	path := initrdName(cacheDir, img, guest)
	if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() {
		return path, nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = writeAtomic(path, 0o444, func(w io.Writer) error { return Initrd(img, guest, w) })
	}
	if err != nil {
		return "", fault.Wrap(fault.KindOf(err), err, "make the initrd")
	}
	return path, nil
}

// initrdName is where the initrd of img and guest is kept: its bytes depend on what makes its name.
func initrdName(cacheDir string, img Image, guest []byte) string {
	g := sha256.Sum256(guest)
	key := sha256.Sum256([]byte(fmt.Sprintf("%s\n%s\n%x\n", initrdForm, img.Digest(), g)))
	return filepath.Join(cacheDir, "initrd", hex.EncodeToString(key[:])+".cpio")
}

// writeAtomic puts a whole, durable file at path or leaves what was there.
func writeAtomic(path string, perm os.FileMode, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), stagePrefix)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err = fill(f); err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
