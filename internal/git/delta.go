package git

import "fmt"

// patch makes an object of another one and a delta: the sizes of both, then instructions to copy from the base or to
// insert what follows (https://git-scm.com/docs/gitformat-pack#_deltified_representation).
func (r *Repo) patch(base, delta []byte) ([]byte, error) {
	from, delta, ok := deltaSize(delta)
	to, delta, ok2 := deltaSize(delta)
	if !ok || !ok2 || from != int64(len(base)) {
		return nil, errObject
	}
	if to > maxObject {
		return nil, fmt.Errorf("the object has %d bytes; joy reads at most %d", to, maxObject)
	}
	if r.left -= to; r.left < 0 {
		return nil, fmt.Errorf("more than %d bytes would have to be unpacked", maxInflated)
	}
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		var part []byte
		op := delta[0]
		delta = delta[1:]
		switch {
		case op&0x80 != 0:
			part, delta, ok = copied(base, op, delta)
		case op != 0 && int(op) <= len(delta):
			part, delta, ok = delta[:op], delta[op:], true
		default:
			ok = false
		}
		if !ok || int64(len(out)+len(part)) > to {
			return nil, errObject
		}
		out = append(out, part...)
	}
	if int64(len(out)) != to {
		return nil, errObject
	}
	return out, nil
}

// copied is the part of base that a copy instruction names: the low bits of op say which bytes of an offset of 4 and a
// size of 3 bytes follow; the others are 0, and a size of 0 means 64 KiB.
func copied(base []byte, op byte, delta []byte) (part, rest []byte, ok bool) {
	var fields [7]int
	for i := range fields {
		if op>>i&1 == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		fields[i], delta = int(delta[0]), delta[1:]
	}
	offset := int64(fields[0]) | int64(fields[1])<<8 | int64(fields[2])<<16 | int64(fields[3])<<24
	size := int64(fields[4]) | int64(fields[5])<<8 | int64(fields[6])<<16
	if size == 0 {
		size = 1 << 16
	}
	if offset+size > int64(len(base)) {
		return nil, nil, false
	}
	return base[offset : offset+size], delta, true
}

func deltaSize(b []byte) (size int64, rest []byte, ok bool) {
	for i, c := range b {
		if i > 7 {
			break
		}
		size |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return size, b[i+1:], true
		}
	}
	return 0, nil, false
}
