package state

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// The layout is git's Documentation/gitformat-index.txt: a 12-byte header, then entries of 40 bytes of stat data, a
// hash, 2 bytes of flags (2 more when "extended") and a path; then extensions; then a checksum.
const (
	statBytes    = 40
	flagExtended = 0x4000
	nameMask     = 0x0fff // the path's length, or this when it is longer
	maxName      = 4096   // of a path, in bytes: version 4 lets a small file spell out very many long ones
)

var errIndex = errors.New("not a git index")

// trackedUnder finds a path at or below dir (relative to the work tree, forward slashes) in an index. link is the name
// of the shared index that a split index builds on, or "". Letters are compared without case, as the file systems of
// macOS and Windows would.
func trackedUnder(index []byte, dir string) (tracked, link string, err error) {
	for _, hash := range []int{20, 32} { // SHA-1, SHA-256: the entries themselves show which
		if tracked, link, err = scanIndex(index, dir, hash); err == nil {
			return tracked, link, nil
		}
	}
	return "", "", err
}

func scanIndex(index []byte, dir string, hash int) (tracked, link string, err error) {
	if len(index) < 12+hash || string(index[:4]) != "DIRC" {
		return "", "", errIndex
	}
	version, count := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return "", "", fmt.Errorf("%w of a known version: %d", errIndex, version)
	}
	r := entryReader{rest: index[12 : len(index)-hash], version: version, hash: hash}
	for range count {
		if err := r.next(); err != nil {
			return "", "", err
		}
		if under(string(r.path), dir) && tracked == "" {
			tracked = string(r.path)
		}
	}
	link, err = sharedIndex(r.rest, hash)
	return tracked, link, err
}

func under(path, dir string) bool {
	if len(path) < len(dir) || !strings.EqualFold(path[:len(dir)], dir) {
		return false
	}
	return len(path) == len(dir) || path[len(dir)] == '/'
}

// entryReader walks the entries; path is the one last read.
type entryReader struct {
	rest    []byte
	version uint32
	hash    int
	path    []byte
}

func (r *entryReader) next() error {
	size := statBytes + r.hash + 2
	if len(r.rest) < size {
		return errIndex
	}
	flags := binary.BigEndian.Uint16(r.rest[size-2:])
	if flags&flagExtended != 0 && r.version >= 3 {
		size += 2
	}
	if len(r.rest) < size {
		return errIndex
	}
	body := r.rest[size:]
	kept := 0
	if r.version == 4 { // the path is the previous one, cut, and a suffix
		cut, n := offsetVarint(body)
		if n == 0 || cut > len(r.path) {
			return errIndex
		}
		kept, body, size = len(r.path)-cut, body[n:], size+n
	}
	end := bytes.IndexByte(body, 0)
	if end < 0 {
		return errIndex
	}
	path := append(bytes.Clone(r.path[:kept]), body[:end]...)
	// The stored length is what shows that entries of the other hash were read; 0 is an entry of a split index, which
	// has its path in the shared one.
	if n := int(flags & nameMask); n < nameMask && n != len(path) || len(path) > maxName {
		return errIndex
	}
	size += end + 1
	if r.version != 4 { // padded with 1 to 8 NULs to a multiple of 8
		size = (size + 7) &^ 7
	}
	if len(r.rest) < size {
		return errIndex
	}
	r.rest, r.path = r.rest[size:], path
	return nil
}

// offsetVarint reads the integer of gitformat-pack's OFS_DELTA. n is 0 when there is none.
func offsetVarint(b []byte) (value, n int) {
	for n < len(b) && n < 4 {
		c := b[n]
		n++
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}

// sharedIndex looks for the extension "link" in what follows the entries.
func sharedIndex(rest []byte, hash int) (string, error) {
	for len(rest) > 0 {
		if len(rest) < 8 {
			return "", errIndex
		}
		name, size := string(rest[:4]), uint64(binary.BigEndian.Uint32(rest[4:]))
		rest = rest[8:]
		if size > uint64(len(rest)) {
			return "", errIndex
		}
		if base := rest[:size]; name == "link" && len(base) >= hash && !bytes.Equal(base[:hash], make([]byte, hash)) {
			return "sharedindex." + hex.EncodeToString(base[:hash]), nil
		}
		rest = rest[size:]
	}
	return "", nil
}
