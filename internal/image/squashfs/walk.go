package squashfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// child is one name in a directory and the reference of its inode.
type child struct {
	name string
	ref  uint64
}

// children lists a directory, in the order in which it is stored: bytewise.
func (f *FS) children(n *inode) ([]child, error) {
	const trailer = 3 // what a listing's size counts beyond its bytes
	if n.size <= trailer {
		return nil, nil
	}
	at, err := f.at(f.super.DirTable, n.start, uint16(n.offset))
	if err != nil {
		return nil, err
	}
	rest := &io.LimitedReader{R: at, N: int64(n.size - trailer)}
	var out []child
	for rest.N > 0 {
		var head struct{ Count, Start, Number uint32 }
		if err := binary.Read(rest, binary.LittleEndian, &head); err != nil {
			return nil, err
		}
		if head.Count > 255 {
			return nil, errors.New("too many names under one head")
		}
		for range head.Count + 1 {
			var entry struct {
				Offset       uint16
				Number       int16
				Kind, Length uint16
			}
			if err := binary.Read(rest, binary.LittleEndian, &entry); err != nil {
				return nil, err
			}
			name := make([]byte, min(int(entry.Length), 255)+1)
			if _, err := io.ReadFull(rest, name); err != nil {
				return nil, err
			}
			c := child{string(name), uint64(head.Start)<<16 | uint64(entry.Offset)}
			if c.name == "." || c.name == ".." || strings.ContainsAny(c.name, "/\x00") || len(out) > 0 && c.name <= out[len(out)-1].name {
				return nil, fmt.Errorf("bad name %q in a directory", c.name)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// walker goes through the tree once, parents first.
type walker struct {
	f     *FS
	left  int             // entries that may still come
	dirs  map[uint64]bool // the directories seen: each has one place
	visit func(path string, n *inode) error
}

func (f *FS) walk(visit func(path string, n *inode) error) error {
	w := &walker{f: f, left: maxEntries, dirs: map[uint64]bool{}, visit: visit}
	return w.enter("", f.super.Root, 0)
}

// enter visits what ref points at; path "" is the root.
func (w *walker) enter(path string, ref uint64, depth int) error {
	if w.left--; w.left < 0 || depth > maxDepth {
		return errors.New("too many files, or too deep")
	}
	n, err := w.f.inode(ref)
	if err == nil && path == "" && n.kind != kindDir {
		err = errors.New("the root is no directory")
	}
	if err == nil {
		err = w.visit(path, n)
	}
	if err != nil {
		return fmt.Errorf("/%s: %w", path, err)
	}
	if n.kind != kindDir {
		return nil
	}
	if w.dirs[ref] {
		return fmt.Errorf("/%s: a directory is in two places", path)
	}
	w.dirs[ref] = true
	children, err := w.f.children(n)
	if err != nil {
		return fmt.Errorf("/%s: %w", path, err)
	}
	for _, c := range children {
		if err := w.enter(strings.TrimPrefix(path+"/"+c.name, "/"), c.ref, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// copyFile writes the content of a regular file.
func (f *FS) copyFile(w io.Writer, n *inode) error {
	left, at := n.size, n.start
	for _, e := range n.sizes {
		want := min(left, uint64(f.super.BlockSize))
		size := int(e &^ (1 << 24))
		if size > maxBlock {
			return fmt.Errorf("bad data block of %d bytes", size)
		}
		data := make([]byte, want) // a hole
		if size > 0 {
			var err error
			if data, err = f.block(at, size, e&(1<<24) != 0, int(f.super.BlockSize)); err != nil {
				return err
			}
		}
		if uint64(len(data)) != want {
			return errors.New("a data block of another size than its file has left")
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		left, at = left-want, at+uint64(size)
	}
	if left == 0 {
		return nil
	}
	tail, err := f.tail(n, left)
	if err == nil {
		_, err = w.Write(tail)
	}
	return err
}

// tail gives the end of a file, which lies in a block together with others'.
func (f *FS) tail(n *inode, size uint64) ([]byte, error) {
	if int64(n.frag) >= int64(len(f.frags)) {
		return nil, errors.New("a fragment that is not in the table")
	}
	g := f.frags[n.frag]
	if f.frag.data == nil || f.frag.at != g.Start {
		packed := int(g.Size &^ (1 << 24))
		if packed == 0 || packed > maxBlock {
			return nil, fmt.Errorf("bad fragment of %d bytes", packed)
		}
		data, err := f.block(g.Start, packed, g.Size&(1<<24) != 0, int(f.super.BlockSize))
		if err != nil {
			return nil, err
		}
		f.frag.at, f.frag.data = g.Start, data
	}
	if from := uint64(n.offset); from <= uint64(len(f.frag.data)) && size <= uint64(len(f.frag.data))-from {
		return f.frag.data[from : from+size], nil
	}
	return nil, errors.New("a fragment shorter than its file's end")
}
