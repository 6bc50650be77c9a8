// Package scratch makes the disk that the worlds of a VM write to.
//
// The one rule: it has no name. It is gone with the last descriptor, however joy and the VM end.
package scratch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/joystream-ai/joy/internal/fault"
)

// New makes a sparse file of size bytes in dir, without a name: it is gone when the last descriptor is closed, however joy ends.
func New(dir string, size int64) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".joy-scratch-*")
	if err == nil {
		err = errors.Join(os.Remove(f.Name()), f.Truncate(size))
		if err != nil {
			f.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("making the scratch disk: %w", err)
	}
	return f, nil
}

// Quotas are the features that keep a world to its share of the disk
// (docs/adr/0027-one-step-leaves-room-for-the-others.md). A kernel without quotas cannot mount a disk that has them.
const Quotas = ",quota,project"

// Format begins to make an ext4 file system with those features; what it returns waits for the end.
func Format(f *os.File, features string) (wait func() error) {
	// No journal and no checksums: the disk never outlives the VM. No reserved blocks: root is the only user. A project needs inodes of 256
	// bytes.
	options := "lazy_itable_init=1,nodiscard"
	if features == Quotas {
		options += ",quotatype=prjquota"
	}
	mkfs := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal,^resize_inode,^metadata_csum"+features, "-I", "256", //nolint:noctx // ends by itself
		"-E", options, "/proc/self/fd/3")
	mkfs.ExtraFiles = []*os.File{f}
	mkfs.Env = []string{"PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C"}
	if path, err := lookSbin("mkfs.ext4"); err == nil {
		mkfs.Path, mkfs.Err = path, nil
	}
	var said bytes.Buffer
	mkfs.Stdout, mkfs.Stderr = &said, &said
	err := mkfs.Start()
	return func() error {
		if err == nil {
			err = mkfs.Wait()
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, exec.ErrNotFound):
			return fault.New(fault.Platform, "mkfs.ext4 is not installed").WithHint("sudo apt-get install e2fsprogs")
		default:
			return fmt.Errorf("making the scratch disk: %w: %s", err, said.Bytes())
		}
	}
}

// lookSbin finds a system program for users whose PATH has no sbin.
func lookSbin(name string) (string, error) {
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if info, err := os.Stat(dir + name); err == nil && !info.IsDir() {
			return dir + name, nil
		}
	}
	return exec.LookPath(name)
}
