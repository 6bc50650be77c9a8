// Package squashfs reads the root file system of an image and writes it as a tar, on any system and without mounting.
//
// The one rule: nothing in a file system decides how much is read, kept or repeated. Every size is checked against the
// file and a named limit before it is used, since an image may come from anybody.
//
// The format: https://dr-emann.github.io/squashfs/ and the kernel's fs/squashfs/squashfs_fs.h. Read is version 4.0 with
// zstd or nothing compressed, which is what joy makes; extended attributes are refused.
package squashfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// The format's constants.
const (
	magic           = 0x73717368
	superSize       = 96
	metaSize        = 8192    // of an unpacked metadata block
	maxBlock        = 1 << 20 // of a data block
	compressionZstd = 6
	nothing         = 0xffffffff // an index of no fragment, no attribute
)

// Limits on what one file system may hold.
const (
	maxEntries = 4 << 20
	maxDepth   = 128
	maxIDs     = 1 << 16
	maxTarget  = 4 << 10 // of a symbolic link, PATH_MAX
	maxContent = 1 << 40 // of all files together
)

// FS is an open file system. It keeps one unpacked block of each kind and may be used by one goroutine at a time.
type FS struct {
	r     io.ReaderAt
	super super
	ids   []uint32
	frags []fragment
	zstd  *zstd.Decoder
	spare []byte // packed bytes of the block that is read
	frag  struct {
		at   uint64 // place of the fragment block that data holds
		data []byte
	}
}

type super struct {
	Magic, Inodes, ModTime, BlockSize, Fragments                 uint32
	Compression, BlockLog, Flags, IDs, Major, Minor              uint16
	Root, Used                                                   uint64
	IDTable, XattrTable, InodeTable, DirTable, FragTable, Export uint64
}

type fragment struct {
	Start uint64
	Size  uint32
	_     uint32
}

// Open reads the tables of a file system of size bytes. The FS needs no closing; r has to stay open.
func Open(r io.ReaderAt, size int64) (*FS, error) {
	f := &FS{r: r}
	head := make([]byte, superSize)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("read the superblock: %w", err)
	}
	if _, err := binary.Decode(head, binary.LittleEndian, &f.super); err != nil {
		return nil, fmt.Errorf("read the superblock: %w", err)
	}
	s := f.super
	switch {
	case s.Magic != magic || s.Major != 4 || s.Minor != 0:
		return nil, errors.New("not a squashfs of version 4.0")
	case s.Compression != compressionZstd:
		return nil, fmt.Errorf("compression %d is not zstd", s.Compression)
	case s.BlockSize < 4096 || s.BlockSize > maxBlock || s.BlockSize&(s.BlockSize-1) != 0:
		return nil, fmt.Errorf("bad block size %d", s.BlockSize)
	case s.Used > uint64(size) || s.Inodes > maxEntries || uint64(s.Fragments) > s.Used:
		return nil, errors.New("larger than its file")
	}
	var err error
	f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		return nil, err
	}
	if f.ids, err = readTable[uint32](f, s.IDTable, int(s.IDs)); err != nil {
		return nil, fmt.Errorf("read the owners: %w", err)
	}
	if f.frags, err = readTable[fragment](f, s.FragTable, int(s.Fragments)); err != nil {
		return nil, fmt.Errorf("read the fragments: %w", err)
	}
	return f, nil
}

// readTable reads a table of n fixed-size values: at start lie the places of the metadata blocks that hold them.
func readTable[T any](f *FS, start uint64, n int) ([]T, error) {
	var one T
	size := binary.Size(one)
	perBlock := metaSize / size
	var out []T
	for i := 0; len(out) < n; i++ {
		place := make([]byte, 8)
		if err := f.readAt(place, start+uint64(i)*8); err != nil {
			return nil, err
		}
		block, _, err := f.meta(binary.LittleEndian.Uint64(place))
		if err != nil {
			return nil, err
		}
		part := make([]T, min(perBlock, n-len(out)))
		if _, err := binary.Decode(block, binary.LittleEndian, part); err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}

// readAt fills p from the file system's part of the file.
func (f *FS) readAt(p []byte, at uint64) error {
	if at > f.super.Used || uint64(len(p)) > f.super.Used-at {
		return errors.New("a place outside the file system")
	}
	_, err := f.r.ReadAt(p, int64(at))
	if errors.Is(err, io.EOF) { // at the very end of the file with all of p
		err = nil
	}
	return err
}

// meta reads the metadata block at a place; next is the place after it.
func (f *FS) meta(at uint64) (data []byte, next uint64, err error) {
	var head [2]byte
	if err := f.readAt(head[:], at); err != nil {
		return nil, 0, err
	}
	h := binary.LittleEndian.Uint16(head[:])
	size := uint64(h &^ 0x8000)
	if size == 0 || size > metaSize {
		return nil, 0, fmt.Errorf("bad metadata block of %d bytes", size)
	}
	data, err = f.block(at+2, int(size), h&0x8000 != 0, metaSize)
	return data, at + 2 + size, err
}

// block reads and unpacks one block, of at most limit bytes.
func (f *FS) block(at uint64, size int, plain bool, limit int) ([]byte, error) {
	if cap(f.spare) < size {
		f.spare = make([]byte, size)
	}
	packed := f.spare[:size]
	if plain {
		packed = make([]byte, size)
	}
	if err := f.readAt(packed, at); err != nil {
		return nil, err
	}
	if !plain {
		var err error
		if packed, err = f.zstd.DecodeAll(packed, make([]byte, 0, limit)); err != nil {
			return nil, err
		}
	}
	if len(packed) > limit {
		return nil, fmt.Errorf("a block of %d bytes where %d are allowed", len(packed), limit)
	}
	return packed, nil
}
