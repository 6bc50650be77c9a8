package git

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
)

// packs lists the packs of an object directory, without extension.
func packs(objects fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(objects, "pack")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".idx"); ok {
			out = append(out, "pack/"+name)
		}
	}
	if len(out) > maxPacks {
		return nil, fmt.Errorf("there are more than %d packs", maxPacks)
	}
	return out, nil
}

func (r *Repo) packed(objects fs.FS, name string) (object, error) {
	list, err := packs(objects)
	if err != nil {
		return object{}, err
	}
	hash, err := hex.DecodeString(name)
	if err != nil {
		return object{}, err
	}
	for _, p := range list {
		pack, err := r.openPack(objects, p, len(hash))
		if err != nil {
			return object{}, err
		}
		o, err := pack.object(hash)
		pack.close()
		if err == nil || !errors.Is(err, ErrNotFound) {
			return o, err
		}
	}
	return object{}, ErrNotFound
}

// pack is one pack and its index, read where needed: both may be gigabytes.
type pack struct {
	repo *Repo
	idx  *index
	data io.ReaderAt
	size int64
	done []io.Closer
}

func (p *pack) close() {
	for _, c := range p.done {
		_ = c.Close() // only read
	}
}

func (r *Repo) openPack(objects fs.FS, name string, hash int) (*pack, error) {
	p := &pack{repo: r}
	var err error
	if p.idx, err = openIndex(objects, name+".idx", hash); err != nil {
		return nil, err
	}
	p.done = append(p.done, p.idx.file)
	f, err := openRegular(objects, name+".pack")
	if err != nil {
		p.close()
		return nil, err
	}
	p.done = append(p.done, f)
	info, err := f.Stat()
	at, ok := f.(io.ReaderAt)
	if err != nil || !ok {
		p.close()
		return nil, fmt.Errorf("%s.pack cannot be read", name)
	}
	p.data, p.size = at, info.Size()
	var head [8]byte
	if _, err := at.ReadAt(head[:], 0); err != nil || string(head[:4]) != "PACK" || binary.BigEndian.Uint32(head[4:]) != 2 {
		p.close()
		return nil, fmt.Errorf("%s.pack is no pack of version 2", name)
	}
	return p, nil
}

// Types of an entry in a pack.
const (
	entryOffset = 6 // a delta upon the entry that lies a number of bytes before
	entryRef    = 7 // a delta upon the object of a name
)

var kinds = map[byte]kind{1: kindCommit, 2: kindTree, 3: kindBlob, 4: kindTag}

// object finds hash and undoes the deltas it is stored as, from the object at their bottom up.
func (p *pack) object(hash []byte) (object, error) {
	at, err := p.idx.offset(hash)
	if err != nil {
		return object{}, err
	}
	var deltas [][]byte
	for len(deltas) <= maxChain {
		e, err := p.entry(at)
		if err != nil {
			return object{}, err
		}
		if k, whole := kinds[e.typ]; whole {
			return p.apply(object{k, e.data}, deltas)
		}
		deltas = append(deltas, e.data)
		if at = e.base; e.name == nil {
			continue
		}
		if at, err = p.idx.offset(e.name); errors.Is(err, ErrNotFound) { // a pack that was fetched thin
			base, err := p.repo.object(hex.EncodeToString(e.name))
			if err != nil {
				return object{}, err
			}
			return p.apply(base, deltas)
		} else if err != nil {
			return object{}, err
		}
	}
	return object{}, fmt.Errorf("%w: a chain of more than %d deltas", errObject, maxChain)
}

func (p *pack) apply(base object, deltas [][]byte) (object, error) {
	for i := len(deltas) - 1; i >= 0; i-- {
		data, err := p.repo.patch(base.data, deltas[i])
		if err != nil {
			return object{}, err
		}
		base.data = data
	}
	return base, nil
}

// packEntry is one entry: data is the object, or a delta upon the entry at base or the object of name.
type packEntry struct {
	typ  byte
	base int64
	name []byte
	data []byte
}

// entry reads the entry at an offset of the pack.
func (p *pack) entry(at int64) (packEntry, error) {
	var e packEntry
	if at < 12 || at >= p.size {
		return e, fmt.Errorf("%w: it lies outside its pack", errObject)
	}
	const maxHead = 64 // a size of at most 10 bytes, then at most 10 more or a hash
	head := make([]byte, maxHead)
	n, err := p.data.ReadAt(head, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return e, err
	}
	head = head[:n]
	size, used, err := entrySize(head)
	if err != nil {
		return e, err
	}
	switch e.typ = head[0] >> 4 & 7; e.typ {
	case entryOffset:
		back, n := offsetVarint(head[used:])
		if n == 0 || back <= 0 || back >= at {
			return e, errObject
		}
		e.base, used = at-back, used+n
	case entryRef:
		if len(head) < used+p.idx.hash {
			return e, errObject
		}
		e.name, used = bytes.Clone(head[used:used+p.idx.hash]), used+p.idx.hash
	default:
		if kinds[e.typ] == "" {
			return e, errObject
		}
	}
	from := at + int64(used)
	z, err := zlib.NewReader(io.NewSectionReader(p.data, from, p.size-from))
	if err != nil {
		return e, errObject
	}
	e.data, err = p.repo.inflated(z, size)
	return e, err
}

// entrySize reads the inflated size: 4 bits beside the type, then 7 a byte, the lowest first.
func entrySize(head []byte) (size int64, used int, err error) {
	if len(head) == 0 {
		return 0, 0, errObject
	}
	size = int64(head[0] & 0x0f)
	more, shift := head[0]&0x80 != 0, 4
	for used = 1; more; used++ {
		if used >= len(head) || shift > 56 {
			return 0, 0, errObject
		}
		size |= int64(head[used]&0x7f) << shift
		more, shift = head[used]&0x80 != 0, shift+7
	}
	return size, used, nil
}

// offsetVarint reads the distance of an offset delta; n is 0 when there is none.
func offsetVarint(b []byte) (value int64, n int) {
	for n < len(b) && value < math.MaxInt64>>8 {
		c := b[n]
		n++
		value = value<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}
