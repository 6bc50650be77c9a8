package guestproto

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A packet of a pipe is a kind (1 byte), a length (3), an offset or a carrier's number (8), the offset of the byte that
// its sender waits for (8), all big endian, and the payload, at most MaxChunk.
type packet struct {
	kind byte
	size int
	at   uint64 // of pipeData the offset of the first byte, else the carrier's number
	got  uint64
}

const packetHead = 20

// The kinds of packets. A carrier begins with a hello of the host and a welcome of the guest; then only data follow, whose
// payload may be empty.
const (
	pipeHello byte = 1 + iota
	pipeWelcome
	pipeData
)

// append adds the packet's head to b.
func (k packet) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(k.kind)<<24|uint32(k.size))
	b = binary.BigEndian.AppendUint64(b, k.at)
	return binary.BigEndian.AppendUint64(b, k.got)
}

// readPacket reads one packet, its payload into buf when that is large enough. io.EOF comes only between packets.
func readPacket(r io.Reader, buf []byte) (packet, []byte, error) {
	var head [packetHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return packet{}, nil, err
	}
	first := binary.BigEndian.Uint32(head[:])
	k := packet{
		kind: byte(first >> 24), size: int(first & 0xffffff),
		at: binary.BigEndian.Uint64(head[4:]), got: binary.BigEndian.Uint64(head[12:]),
	}
	if k.size > MaxChunk {
		return k, nil, fmt.Errorf("%w: a packet of %d bytes", ErrBroken, k.size)
	}
	if cap(buf) < k.size {
		buf = make([]byte, k.size)
	}
	buf = buf[:k.size]
	if _, err := io.ReadFull(r, buf); err != nil {
		return k, nil, unexpected(err)
	}
	return k, buf, nil
}
