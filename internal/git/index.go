package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"sort"
)

// index is a pack's index of version 2: a magic number, 256 running counts by first byte, then as arrays of one item an
// object the sorted names, checksums, offsets of 4 bytes, and offsets of 8 bytes for what does not fit
// (https://git-scm.com/docs/gitformat-pack#_pack_idx_files_have_the_following_format).
type index struct {
	file  fs.File
	at    io.ReaderAt
	hash  int // bytes of a name
	count int
	fan   [256]uint32
}

const (
	idxHead = 8
	idxFan  = idxHead + 256*4
)

func openIndex(objects fs.FS, name string, hash int) (*index, error) {
	f, err := openRegular(objects, name)
	if err != nil {
		return nil, err
	}
	x := &index{file: f, hash: hash}
	var ok bool
	if x.at, ok = f.(io.ReaderAt); !ok || !x.readHead() {
		_ = f.Close() // only read
		return nil, fmt.Errorf("%s is no index of version 2", name)
	}
	return x, nil
}

func (x *index) readHead() bool {
	head := make([]byte, idxFan)
	if _, err := x.at.ReadAt(head, 0); err != nil || !bytes.Equal(head[:idxHead], []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return false
	}
	for i := range x.fan {
		x.fan[i] = binary.BigEndian.Uint32(head[idxHead+4*i:])
		if i > 0 && x.fan[i] < x.fan[i-1] {
			return false
		}
	}
	x.count = int(x.fan[255])
	info, err := x.file.Stat()
	// Between no and all offsets being large ones; so the size shows which hash it is.
	least := int64(idxFan) + int64(x.count)*int64(x.hash+8) + 2*int64(x.hash)
	return err == nil && info.Size() >= least && info.Size() <= least+8*int64(x.count)
}

func (x *index) name(i int) ([]byte, error) {
	out := make([]byte, x.hash)
	_, err := x.at.ReadAt(out, int64(idxFan)+int64(i)*int64(x.hash))
	return out, err
}

// search is the place of the first name that is not below prefix.
func (x *index) search(prefix []byte) (int, error) {
	low := 0
	if prefix[0] > 0 {
		low = int(x.fan[prefix[0]-1])
	}
	high := int(x.fan[prefix[0]])
	var failed error
	i := low + sort.Search(high-low, func(i int) bool {
		name, err := x.name(low + i)
		if err != nil {
			failed = err
		}
		return bytes.Compare(name, prefix) >= 0
	})
	return i, failed
}

// offset is where the object lies in the pack. The error is ErrNotFound when it is in another one.
func (x *index) offset(hash []byte) (int64, error) {
	i, err := x.search(hash)
	if err != nil {
		return 0, err
	}
	if i >= x.count {
		return 0, ErrNotFound
	}
	name, err := x.name(i)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(name, hash) {
		return 0, ErrNotFound
	}
	n := int64(x.count)
	offsets := int64(idxFan) + n*int64(x.hash) + n*4
	var word [8]byte
	if _, err := x.at.ReadAt(word[:4], offsets+int64(i)*4); err != nil {
		return 0, err
	}
	short := binary.BigEndian.Uint32(word[:4])
	const large = 1 << 31
	if short&large == 0 {
		return int64(short), nil
	}
	if _, err := x.at.ReadAt(word[:], offsets+n*4+int64(short&^large)*8); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(word[:]) &^ (1 << 63)), nil
}

// packedWith adds the names that begin with prefix, a few at most: more than one is ambiguous anyway.
func packedWith(objects fs.FS, prefix string, found map[string]bool) error {
	const few = 16
	list, err := packs(objects)
	if err != nil {
		return err
	}
	even := prefix[:len(prefix)&^1]
	low, err := hex.DecodeString(even)
	if err != nil {
		return err
	}
	for _, p := range list {
		for _, hash := range []int{20, 32} {
			x, err := openIndex(objects, p+".idx", hash)
			if err != nil {
				continue // of the other size; a broken one names itself when an object is read from it
			}
			i, err := x.search(low)
			for ; err == nil && i < x.count && len(found) < few; i++ {
				var name []byte
				if name, err = x.name(i); err != nil {
					break
				}
				if !bytes.HasPrefix(name, low) {
					break
				}
				if full := hex.EncodeToString(name); full[:len(prefix)] == prefix {
					found[full] = true
				}
			}
			_ = x.file.Close() // only read
			if err != nil {
				return err
			}
		}
	}
	return nil
}
