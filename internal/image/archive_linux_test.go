package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// packageTime is the date of every file in the test archive.
var packageTime = time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)

// testArchive is a Debian archive of the test's own, in a directory: real packages, made by dpkg-deb and read by apt.
type testArchive struct {
	t     *testing.T
	dir   string
	index bytes.Buffer
}

// files of a package by path; what starts with "#!" or lies in a bin directory is executable.
type files map[string][]byte

func newTestArchive(t *testing.T) *testArchive {
	t.Helper()
	if err := Needs("tiny", nil); err != nil {
		t.Skip(err)
	}
	return &testArchive{t: t, dir: t.TempDir()}
}

// add puts a package into the archive.
func (a *testArchive) add(name, version, depends string, content files) {
	a.t.Helper()
	tree := a.t.TempDir()
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: test <test@example.com>\nDescription: test\n", name, version, runtime.GOARCH)
	if depends != "" {
		control += "Depends: " + depends + "\n"
	}
	for path, data := range content {
		mode := os.FileMode(0o644)
		if filepath.Base(filepath.Dir(path)) == "bin" {
			mode = 0o755
		}
		full := filepath.Join(tree, path)
		require.NoError(a.t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(a.t, os.WriteFile(full, data, mode))
		require.NoError(a.t, os.Chtimes(full, packageTime, packageTime))
	}
	require.NoError(a.t, os.MkdirAll(filepath.Join(tree, "DEBIAN"), 0o755))
	require.NoError(a.t, os.WriteFile(filepath.Join(tree, "DEBIAN", "control"), []byte(control), 0o644))
	deb := name + ".deb"
	out, err := exec.CommandContext(a.t.Context(), "dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, filepath.Join(a.dir, deb)).CombinedOutput()
	require.NoError(a.t, err, string(out))
	sum, size, err := sumFile(filepath.Join(a.dir, deb))
	require.NoError(a.t, err)
	fmt.Fprintf(&a.index, "%sFilename: ./%s\nSize: %d\nSHA256: %s\n\n", control, deb, size, sum)
}

// sources writes the index and gives the line of sources.list that names the archive.
func (a *testArchive) sources() string {
	a.t.Helper()
	require.NoError(a.t, os.WriteFile(filepath.Join(a.dir, "Packages"), a.index.Bytes(), 0o644))
	release := fmt.Sprintf("Date: %s\nSHA256:\n %x %d Packages\n", packageTime.Format(time.RFC1123), sha256.Sum256(a.index.Bytes()), a.index.Len())
	require.NoError(a.t, os.WriteFile(filepath.Join(a.dir, "Release"), []byte(release), 0o644))
	return "deb [trusted=yes] file:" + a.dir + " ./\n"
}

// addKernel puts a kernel package into the archive; changes overrides or (nil) removes files of a good one.
func (a *testArchive) addKernel(changes files) {
	a.t.Helper()
	const mods = "lib/modules/6.1.0-1/kernel/"
	content := files{
		"boot/vmlinuz-6.1.0-1":                           []byte("a kernel"),
		mods + "drivers/virtio/virtio.ko":                module("depends=virtio_ring"),
		mods + "drivers/virtio/virtio_ring.ko":           module("depends="),
		mods + "drivers/virtio/virtio_pci.ko":            module("depends=virtio,virtio_ring,virtio_pci_modern_dev"),
		mods + "drivers/virtio/virtio_pci_modern_dev.ko": module("depends="),
		mods + "drivers/char/virtio_console.ko":          module("license=GPL", "depends=virtio"),
		mods + "drivers/block/virtio_blk.ko":             module("depends=virtio"),
		mods + "drivers/char/hw_random/virtio-rng.ko":    module("depends=virtio"),
		mods + "fs/squashfs/squashfs.ko":                 module("depends="),
		"lib/modules/6.1.0-1/modules.builtin":            []byte("kernel/fs/overlayfs/overlay.ko\nkernel/fs/quota/quota_v2.ko\n"),
		mods + "net/unrelated.ko":                        []byte("not even an ELF file"),
	}
	for path, data := range changes {
		content[path] = data
		if data == nil {
			delete(content, path)
		}
	}
	a.add("linux-image-cloud-"+runtime.GOARCH, "6.1.1", "linux-image-6.1.0-1-cloud (= 6.1.1), other", nil)
	a.add("linux-image-6.1.0-1-cloud", "6.1.1", "", content)
}

// addPrograms puts what the tiny root is made of into the archive. busybox is a script: it is only asked for its list.
func (a *testArchive) addPrograms() {
	a.t.Helper()
	a.add("busybox-static", "1:1.35", "", files{
		"bin/busybox":                            []byte("#!/bin/sh\n[ \"$1\" = --list-full ] && printf 'bin/ls\\nusr/bin/env\\nlinuxrc\\n../escape\\nbin/bash\\n'\n"),
		"usr/share/doc/busybox-static/copyright": []byte("GPL-2\n"),
	})
	a.add("bash-static", "5.2", "", files{"bin/bash-static": []byte("a shell")})
}

// module makes an ELF file with a .modinfo section, as small as debug/elf accepts.
func module(info ...string) []byte {
	const names = "\x00.modinfo\x00.shstrtab\x00"
	text := strings.Join(info, "\x00") + "\x00"
	type section struct {
		Name, Type                uint32
		Flags, Addr, Offset, Size uint64
		Link, Info                uint32
		Align, EntSize            uint64
	}
	le := binary.LittleEndian
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9)) // 64 bit, little endian
	for _, v := range []any{
		uint16(1), uint16(62), uint32(1), uint64(0), uint64(0), uint64(64 + len(text) + len(names)), // relocatable, x86-64, …, section table
		uint32(0), uint16(64), uint16(0), uint16(0), uint16(64), uint16(3), uint16(2),
	} {
		_ = binary.Write(&b, le, v) // a bytes.Buffer does not fail
	}
	b.WriteString(text + names)
	for _, s := range []section{
		{},
		{Name: 1, Type: 1, Offset: 64, Size: uint64(len(text)), Align: 1},
		{Name: 10, Type: 3, Offset: uint64(64 + len(text)), Size: uint64(len(names)), Align: 1},
	} {
		_ = binary.Write(&b, le, s)
	}
	return b.Bytes()
}
