package image

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// maxBinary caps one executable of the tiny root, in bytes.
const maxBinary = 64 << 20

// tinyBinaries are the packages of the tiny root: one static executable each.
var tinyBinaries = []struct{ pkg, from, to string }{
	{"busybox-static", "busybox", "bin/busybox"},
	{"bash-static", "bash-static", "bin/bash"}, // busybox has no bash, and a .sh entry point is started with it
}

// tinyRoot makes a root file system of busybox and bash.
func (b *builder) tinyRoot(ctx context.Context, a *archive) error {
	root := tinySkeleton()
	var newest time.Time
	for _, bin := range tinyBinaries {
		at, err := b.takeBinary(ctx, a, bin.pkg, bin.from, bin.to, root)
		if err != nil {
			return err
		}
		if at.After(newest) {
			newest = at
		}
	}
	if err := b.applets(ctx, root); err != nil {
		return err
	}
	packed := filepath.Join(b.stage, "root.tar")
	out, err := os.Create(packed)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "store the root")
	}
	err = writeTree(out, root, newest)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "store the root")
	}
	found, err := surveyRoot(packed, newest.Add(time.Second))
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read the root")
	}
	b.programs = found.programs
	// Not compressed: it is small, and unpacking its first program took an emulated CPU longer than the rest of a step.
	return b.squash(ctx, packed, newest, "-noI", "-noD", "-noF", "-noX")
}

// takeBinary downloads pkg and puts its executable from at the path to, and its licence where Debian has it. at is the
// time of the executable.
func (b *builder) takeBinary(ctx context.Context, a *archive, pkg, from, to string, root map[string]node) (at time.Time, err error) {
	rec, err := a.show(ctx, pkg)
	if err != nil {
		return at, err
	}
	deb, err := a.download(ctx, rec)
	if err != nil {
		return at, err
	}
	defer os.RemoveAll(filepath.Dir(deb))
	err = b.eachFile(ctx, deb, func(h *tar.Header, r io.Reader) error {
		name, mode, limit := "", int64(0o644), int64(maxIndex)
		switch {
		case path.Base(h.Name) == from && path.Base(path.Dir(h.Name)) == "bin":
			name, mode, limit, at = to, 0o755, maxBinary, h.ModTime
		case h.Name == "usr/share/doc/"+pkg+"/copyright":
			name = h.Name
		default:
			return nil
		}
		data, err := readAll(r, limit)
		root[name] = node{mode: mode, data: data}
		return err
	})
	if err == nil && root[to].data == nil {
		err = fault.New(fault.Platform, "package %s has no %s", pkg, from)
	}
	return at, err
}

// applets links every applet to busybox. Busybox itself says which it has: it is Debian's, checked by its signature,
// and is run with nothing but that question.
func (b *builder) applets(ctx context.Context, root map[string]node) error {
	bin := filepath.Join(b.stage, "busybox")
	if err := os.WriteFile(bin, root["bin/busybox"].data, 0o700); err != nil {
		return fault.Wrap(fault.Platform, err, "store busybox")
	}
	defer os.Remove(bin)
	list, err := b.output(ctx, maxIndex, tool{argv: []string{bin, "--list-full"}})
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(list)) {
		if name == "linuxrc" || path.Clean("/" + name)[1:] != name {
			continue
		}
		if _, taken := root[name]; !taken {
			root[name] = node{link: "/bin/busybox"}
		}
	}
	return nil
}

// node is one entry of a small file tree, by slash path without a leading slash.
type node struct {
	mode int64
	data []byte // of a file
	link string // target, of a symbolic link
	dir  bool
}

// tinySkeleton is what the tiny root has besides programs. It has no resolv.conf: the VM has no network.
func tinySkeleton() map[string]node {
	root := map[string]node{
		"tmp":               {dir: true, mode: 0o1777},
		"var/tmp":           {dir: true, mode: 0o1777},
		"root":              {dir: true, mode: 0o700},
		"etc/passwd":        {mode: 0o644, data: []byte("root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n")},
		"etc/group":         {mode: 0o644, data: []byte("root:x:0:\nnogroup:x:65534:\n")},
		"etc/hostname":      {mode: 0o644, data: []byte("joy\n")},
		"etc/hosts":         {mode: 0o644, data: []byte("127.0.0.1 localhost joy\n::1 localhost\n")},
		"etc/nsswitch.conf": {mode: 0o644, data: []byte("passwd: files\ngroup: files\nhosts: files\n")},
	}
	for _, d := range []string{"proc", "sys", "dev", "run", "mnt", "workspace", "usr/local/bin"} {
		root[d] = node{dir: true, mode: 0o755}
	}
	return root
}

// writeTree writes the tree as a tar, parents first, everything of one time.
func writeTree(w io.Writer, root map[string]node, at time.Time) error {
	for name := range root {
		for d := path.Dir(name); d != "."; d = path.Dir(d) {
			if _, ok := root[d]; !ok {
				root[d] = node{dir: true, mode: 0o755}
			}
		}
	}
	names := make([]string, 0, len(root))
	for name := range root {
		names = append(names, name)
	}
	sort.Strings(names)
	tw := tar.NewWriter(w)
	for _, name := range names {
		if err := writeNode(tw, name, root[name], at); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return tw.Close()
}

func writeNode(tw *tar.Writer, name string, n node, at time.Time) error {
	h := &tar.Header{Name: name, Mode: n.mode, ModTime: at, Typeflag: tar.TypeReg, Size: int64(len(n.data))}
	switch {
	case n.dir:
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case n.link != "":
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, n.link, 0o777
	}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err := tw.Write(n.data)
	return err
}
