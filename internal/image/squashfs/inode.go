package squashfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Kinds of inode. Each has an extended form, seven higher.
const (
	kindDir = iota + 1
	kindFile
	kindSymlink
	kindBlock
	kindChar
	kindFIFO
	kindSocket
	extended = kindSocket
)

// inode is one file of whatever kind.
type inode struct {
	kind     uint16 // of the basic form
	mode     uint16 // permissions alone
	uid, gid uint32
	modTime  time.Time
	number   uint32
	links    uint32
	size     uint64 // of a file or a directory's listing
	start    uint64 // of a file's blocks, or of a directory's listing in the directory table
	offset   uint32 // in the fragment, or in the listing's first block
	frag     uint32
	sizes    []uint32 // of a file's packed blocks
	target   string
	device   uint32
}

// cursor reads on through consecutive metadata blocks.
type cursor struct {
	f    *FS
	next uint64
	data []byte
}

// at gives a cursor at an offset into the block at a place below base.
func (f *FS) at(base, block uint64, offset uint16) (*cursor, error) {
	if block > f.super.Used {
		return nil, errors.New("a place outside the file system")
	}
	c := &cursor{f: f, next: base + block}
	if err := c.more(); err != nil {
		return nil, err
	}
	if int(offset) > len(c.data) {
		return nil, errors.New("an offset outside its block")
	}
	c.data = c.data[offset:]
	return c, nil
}

func (c *cursor) more() (err error) {
	c.data, c.next, err = c.f.meta(c.next)
	return err
}

func (c *cursor) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		if err := c.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.data)
	c.data = c.data[n:]
	return n, nil
}

// take reads fixed-size values.
func (c *cursor) take(into ...any) error {
	for _, v := range into {
		if err := binary.Read(c, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return nil
}

// inode reads what a reference points at: the block's place in the upper bits, the offset in the lowest 16.
func (f *FS) inode(ref uint64) (*inode, error) {
	c, err := f.at(f.super.InodeTable, ref>>16, uint16(ref))
	if err != nil {
		return nil, err
	}
	var head struct {
		Kind, Mode, UID, GID uint16
		ModTime, Number      uint32
	}
	if err := c.take(&head); err != nil {
		return nil, err
	}
	if int(head.UID) >= len(f.ids) || int(head.GID) >= len(f.ids) {
		return nil, errors.New("an owner that is not in the table")
	}
	n := &inode{
		kind: head.Kind, mode: head.Mode & 0o7777, uid: f.ids[head.UID], gid: f.ids[head.GID],
		modTime: time.Unix(int64(head.ModTime), 0).UTC(), number: head.Number, frag: nothing,
	}
	long := n.kind > extended
	if long {
		n.kind -= extended
	}
	xattr := uint32(nothing)
	switch n.kind {
	case kindDir:
		err = f.readDir(c, n, long, &xattr)
	case kindFile:
		err = f.readFile(c, n, long, &xattr)
	case kindSymlink:
		err = readSymlink(c, n)
	case kindBlock, kindChar:
		err = c.take(&n.links, &n.device)
	case kindFIFO, kindSocket:
		err = c.take(&n.links)
	default:
		err = fmt.Errorf("unknown kind %d of inode", head.Kind)
	}
	if err == nil && long && n.kind > kindFile {
		err = c.take(&xattr)
	}
	if err == nil && xattr != nothing {
		err = errors.New("a file has extended attributes")
	}
	return n, err
}

func (f *FS) readDir(c *cursor, n *inode, long bool, xattr *uint32) error {
	var block, parent, size uint32
	var short, index, offset uint16
	var err error
	if long {
		err = c.take(&n.links, &size, &block, &parent, &index, &offset, xattr)
	} else {
		err = c.take(&block, &n.links, &short, &offset, &parent)
		size = uint32(short)
	}
	n.start, n.offset, n.size = uint64(block), uint32(offset), uint64(size)
	return err
}

func (f *FS) readFile(c *cursor, n *inode, long bool, xattr *uint32) error {
	var start, size uint32
	var sparse uint64
	var err error
	if long {
		err = c.take(&n.start, &n.size, &sparse, &n.links, &n.frag, &n.offset, xattr)
	} else {
		err = c.take(&start, &n.frag, &n.offset, &size)
		n.start, n.size, n.links = uint64(start), uint64(size), 1
	}
	if err != nil {
		return err
	}
	if n.size > maxContent {
		return fmt.Errorf("a file of %d bytes", n.size)
	}
	blocks := n.size / uint64(f.super.BlockSize)
	if n.frag == nothing && n.size%uint64(f.super.BlockSize) != 0 {
		blocks++
	}
	if blocks*4 > f.super.Used*64 { // the list is packed too, but no better than that
		return errors.New("more blocks than the file system has")
	}
	for ; blocks > 0; blocks-- {
		var b uint32
		if err := c.take(&b); err != nil {
			return err
		}
		n.sizes = append(n.sizes, b)
	}
	return nil
}

func readSymlink(c *cursor, n *inode) error {
	var size uint32
	if err := c.take(&n.links, &size); err != nil {
		return err
	}
	if size == 0 || size > maxTarget {
		return fmt.Errorf("a link of %d bytes", size)
	}
	target := make([]byte, size)
	_, err := io.ReadFull(c, target)
	n.target = string(target)
	return err
}
