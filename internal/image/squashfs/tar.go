package squashfs

import (
	"archive/tar"
	"errors"
	"io"
)

// WriteTar writes the whole tree as a tar: parents first, in bytewise order, with owners, modes and times. Names have no
// leading slash and directories end in one, as in the layers of the OCI's image specification. The same file system
// gives the same bytes. A socket, which no tar can hold, is left out.
func (f *FS) WriteTar(w io.Writer) error {
	tw := tar.NewWriter(w)
	first := map[uint32]string{} // where an inode of several names was written
	var total uint64
	err := f.walk(func(path string, n *inode) error {
		if path == "" || n.kind == kindSocket {
			return nil
		}
		h := header(path, n)
		if n.kind != kindDir && n.links > 1 {
			if at, ok := first[n.number]; ok {
				h.Typeflag, h.Linkname, h.Size = tar.TypeLink, at, 0
			} else {
				first[n.number] = path
			}
		}
		if total += uint64(h.Size); total > maxContent {
			return errors.New("more than a file system may hold")
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			return nil
		}
		return f.copyFile(tw, n)
	})
	if err != nil {
		return err
	}
	return tw.Close()
}

func header(path string, n *inode) *tar.Header {
	h := &tar.Header{
		Name: path, Mode: int64(n.mode), Uid: int(n.uid), Gid: int(n.gid), ModTime: n.modTime,
	}
	switch n.kind {
	case kindDir:
		h.Typeflag, h.Name = tar.TypeDir, path+"/"
	case kindFile:
		h.Typeflag, h.Size = tar.TypeReg, int64(n.size)
	case kindSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, n.target
	case kindFIFO:
		h.Typeflag = tar.TypeFifo
	default:
		h.Typeflag = tar.TypeChar
		if n.kind == kindBlock {
			h.Typeflag = tar.TypeBlock
		}
		// https://www.kernel.org/doc/html/latest/filesystems/squashfs.html keeps a device as new_encode_dev does.
		h.Devmajor, h.Devminor = int64(n.device>>8&0xfff), int64(n.device&0xff|n.device>>12&0xfff00)
	}
	return h
}
