package digest

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the checksum git chose for its index; nothing here trusts it
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxIndex is the largest git index that is read, in bytes.
const MaxIndex = 256 << 20

// GitModes reads a git index file (versions 2 to 4 of a SHA-1 repository,
// https://git-scm.com/docs/index-format) and says which mode git records for each regular file, by its path in the
// repository. It is how a mode survives a file system without one; no git is run. Links and submodules are left out.
func GitModes(index []byte) (map[string]string, error) {
	const header, trailer = 12, sha1.Size
	if len(index) > MaxIndex {
		return nil, fmt.Errorf("read git index: larger than %d bytes", MaxIndex)
	}
	if len(index) < header+trailer || string(index[:4]) != "DIRC" {
		return nil, errors.New("read git index: not an index file")
	}
	body := index[:len(index)-trailer]
	check := index[len(body):]
	if got := sha1.Sum(body); !bytes.Equal(check, got[:]) && !bytes.Equal(check, make([]byte, trailer)) { //nolint:gosec // see above
		return nil, errors.New("read git index: the checksum does not fit; is it of a SHA-256 repository?")
	}
	version := binary.BigEndian.Uint32(index[4:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("read git index: version %d is not known", version)
	}
	modes := map[string]string{}
	rest, name := body[header:], []byte(nil)
	for n := binary.BigEndian.Uint32(index[8:]); n > 0; n-- {
		var mode uint32
		var err error
		if mode, name, rest, err = indexEntry(rest, name, version); err != nil {
			return nil, err
		}
		if mode>>12 == 0o10 { // a regular file; the low bits are 644 or 755
			modes[string(name)] = modeIf(mode&0o100 != 0)
		}
	}
	return modes, nil
}

// maxIndexName bounds a path: version 4 lets a small file spell out very many long ones.
const maxIndexName = 4096

var errShortIndex = errors.New("read git index: an entry is cut short or malformed")

// indexEntry reads one entry from the front of b. Version 4 tells a name by what it shares with the previous one.
func indexEntry(b, previous []byte, version uint32) (mode uint32, name, rest []byte, err error) {
	const fixed = 62 // ten 32-bit numbers, a SHA-1, 16 bits of flags
	if len(b) < fixed {
		return 0, nil, nil, errShortIndex
	}
	mode = binary.BigEndian.Uint32(b[24:])
	start := fixed
	if extended := b[60]&0x40 != 0; extended {
		start += 2
	}
	kept := []byte(nil)
	if version == 4 {
		drop, size := indexOffset(b[min(start, len(b)):])
		if size == 0 || drop > len(previous) {
			return 0, nil, nil, errShortIndex
		}
		start += size
		kept = previous[:len(previous)-drop]
	}
	end := bytes.IndexByte(b[min(start, len(b)):], 0)
	if end < 0 {
		return 0, nil, nil, errShortIndex
	}
	if len(kept)+end > maxIndexName {
		return 0, nil, nil, errShortIndex
	}
	name = append(bytes.Clone(kept), b[start:start+end]...)
	next := start + end + 1
	if version < 4 {
		next = (start + end + 8) &^ 7 // padded with 1 to 8 NULs
	}
	if next > len(b) {
		return 0, nil, nil, errShortIndex
	}
	return mode, name, b[next:], nil
}

// indexOffset reads git's variable width integer and the number of bytes it took, 0 when there is none.
func indexOffset(b []byte) (value, size int) {
	for i, c := range b {
		if i == 5 {
			break
		}
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}
