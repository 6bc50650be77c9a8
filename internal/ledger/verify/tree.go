package verify

import (
	"crypto/sha256"
	"math/bits"
)

// Hash is a node of the tree over a ledger's lines, which is that of RFC 6962, section 2.1: a leaf is the hash of 0x00
// and a line without its newline, a node that of 0x01 and its two children.
type Hash = [sha256.Size]byte

// leafOf hashes a line, with buf as its room.
func leafOf(buf *[]byte, line []byte) Hash {
	*buf = append(append((*buf)[:0], 0), line...)
	return sha256.Sum256(*buf)
}

func nodeOf(left, right Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// tree is what is needed of the lines so far to go on: for each bit of their number that is set, the root of so many of
// them, the leftmost at the highest bit.
type tree struct {
	n     uint64
	roots []Hash // by bit
}

func (t *tree) add(leaf Hash) {
	level := bits.TrailingZeros64(^t.n) // this many subtrees are full and become one with the leaf
	for _, left := range t.roots[:level] {
		leaf = nodeOf(left, leaf)
	}
	if level == len(t.roots) {
		t.roots = append(t.roots, Hash{})
	}
	t.roots[level] = leaf
	t.n++
}

// root is that of all lines; of none it is the hash of nothing.
func (t *tree) root() Hash {
	if t.n == 0 {
		return sha256.Sum256(nil)
	}
	level := bits.TrailingZeros64(t.n)
	root := t.roots[level]
	for level++; level < len(t.roots); level++ {
		if t.n>>level&1 == 1 {
			root = nodeOf(t.roots[level], root)
		}
	}
	return root
}
