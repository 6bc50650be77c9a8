package secret

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// window is how many bytes at a place decide whether a needle may begin there; no needle is shorter.
const window = 6

// A place is looked up by its window, multiplied and shifted into a bitmap small enough for the first cache. With 64
// bits for each needle about one place in 64 is looked at closer where windows are random; in logs, far fewer.
const (
	windowMask    = 1<<(8*window) - 1
	spread        = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio (Knuth, TAOCP 3, section 6.4)
	bitsPerNeedle = 64
)

// table finds needles. It is not changed once made.
type table struct {
	needles []needle
	shift   uint                // of the product, to the bitmap's size
	bitmap  []uint64            // one bit for each hash of a window
	heads   map[uint64][]int    // window to needles, the longest first
	starts  map[string]bool     // the first 1 to window-1 bytes of any needle
	known   map[string]struct{} // bytes of needles
}

func newTable(needles []needle) *table {
	size := bits.Len(uint(max(len(needles)*bitsPerNeedle, 1<<10)))
	t := &table{
		needles: needles,
		shift:   uint(64 - size),
		bitmap:  make([]uint64, 1<<size/64),
		heads:   map[uint64][]int{},
		starts:  map[string]bool{},
		known:   make(map[string]struct{}, len(needles)),
	}
	for i, n := range needles {
		head := binary.LittleEndian.Uint64(append(n.bytes[:window:window], 0, 0))
		h := head * spread >> t.shift
		t.bitmap[h/64] |= 1 << (h % 64)
		t.heads[head] = append(t.heads[head], i)
		t.known[string(n.bytes)] = struct{}{}
		for k := 1; k < window; k++ {
			t.starts[string(n.bytes[:k])] = true
		}
	}
	for _, list := range t.heads {
		slices.SortStableFunc(list, func(a, b int) int { return len(needles[b].bytes) - len(needles[a].bytes) })
	}
	return t
}

// with is t and the needles it does not know.
func (t *table) with(more []needle) *table {
	needles := slices.Clip(t.needles)
	for _, n := range more {
		if _, ok := t.known[string(n.bytes)]; !ok {
			needles = append(needles, n)
		}
	}
	return newTable(needles)
}

// skip is the first place at or after i where a needle may begin, going by the bitmap; places that have no 8 bytes
// left are not judged, so the result may be the last of those that have, plus one.
func (t *table) skip(b []byte, i int) int {
	bitmap, shift := t.bitmap, t.shift
	for ; i+8 <= len(b); i++ {
		h := binary.LittleEndian.Uint64(b[i:]) & windowMask * spread >> (shift & 63)
		if w := h / 64; w < uint64(len(bitmap)) && bitmap[w]&(1<<(h%64)) != 0 {
			return i
		}
	}
	return i
}

// at finds the longest needle that b begins with; i is -1 when there is none. more says that a longer one, or the
// first one, could still begin here if b went on.
func (t *table) at(b []byte) (i int, more bool) {
	if len(b) < window {
		return -1, t.starts[string(b)]
	}
	var head [8]byte
	copy(head[:window], b)
	for _, i := range t.heads[binary.LittleEndian.Uint64(head[:])] {
		n := t.needles[i].bytes
		if bytes.HasPrefix(b, n) {
			return i, more
		}
		more = more || len(b) < len(n) && bytes.HasPrefix(n, b)
	}
	return -1, more
}
