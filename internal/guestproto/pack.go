package guestproto

import "io"

// Pack lets yamux's frames cross the channel whole: yamux writes a header and its body one after the other, and opens
// a stream with a frame of its own, while each write is a trip through an emulated device. A header whose body follows
// and the opening of a stream, which a request follows at once, wait for the next write.
//
// It wraps the conn of one yamux session, which writes from one goroutine only.
func Pack(conn io.ReadWriteCloser) io.ReadWriteCloser { return &packer{ReadWriteCloser: conn} }

type packer struct {
	io.ReadWriteCloser
	held []byte
	body bool // the next write is the body of the header held last
}

// The header of a yamux frame: version, type, flags (2), stream (4), length (4).
const (
	yamuxHeader = 12
	typeData    = 0
	typeWindow  = 1
	flagSYN     = 1
)

func (p *packer) Write(b []byte) (int, error) {
	more := !p.body && followed(b)
	p.body = more && b[1] == typeData
	if len(p.held) == 0 && !more {
		return p.ReadWriteCloser.Write(b)
	}
	p.held = append(p.held, b...)
	if more {
		return len(b), nil
	}
	_, err := p.ReadWriteCloser.Write(p.held)
	p.held = p.held[:0]
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// followed says whether yamux writes more at once after this header.
func followed(b []byte) bool {
	if len(b) != yamuxHeader {
		return false
	}
	opens := b[1] == typeWindow && b[3]&flagSYN != 0
	return opens || b[1] == typeData && b[8]|b[9]|b[10]|b[11] != 0
}
