package guestproto

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxMessage bounds one JSON message. The largest honest one is a world's environment.
	MaxMessage = 1 << 20
	// MaxFrame bounds the payload of one frame.
	MaxFrame = 64 << 10
)

// ErrTooLarge is a message or frame beyond its cap: the other end does not speak this protocol.
var ErrTooLarge = errors.New("guest protocol: message too large")

// WriteMessage writes v as a 4-byte big-endian length and JSON, in one Write.
func WriteMessage(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(body) > MaxMessage {
		return ErrTooLarge
	}
	buf := make([]byte, 4+len(body))
	binary.BigEndian.PutUint32(buf, uint32(len(body)))
	copy(buf[4:], body)
	_, err = w.Write(buf)
	return err
}

// ReadMessage reads what WriteMessage wrote.
func ReadMessage(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxMessage {
		return ErrTooLarge
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return unexpected(err)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("guest protocol: %w", err)
	}
	return nil
}

// Kind is what a frame carries.
type Kind byte

// The kinds of frames.
const (
	FrameStdin    Kind = 1 + iota
	FrameStdinEOF      // no more input
	FrameStdout
	FrameStderr
	FrameExit    // an Exit; the last frame
	FrameError   // a Reply; the last frame
	FrameFile    // a FileHeader
	FrameData    // bytes of the file
	FrameFileEnd // a Reply: an Error means that the file could not be read to its end
	FrameSkip    // a FileHeader with a Reason
	FrameEnd     // the last frame
)

// Frames reads and writes frames on one stream: a kind, a 4-byte big-endian length, the payload. Reading and writing
// are independent; neither is safe for concurrent use on its own.
type Frames struct {
	rw  io.ReadWriter
	in  [5]byte
	buf []byte
	out []byte
}

// NewFrames takes over rw, which should be unbuffered: each frame is one Write.
func NewFrames(rw io.ReadWriter) *Frames { return &Frames{rw: rw} }

// Write sends one frame. A payload over MaxFrame is ErrTooLarge.
func (f *Frames) Write(kind Kind, payload []byte) error {
	if len(payload) > MaxFrame {
		return ErrTooLarge
	}
	f.out = append(f.out[:0], byte(kind))
	f.out = binary.BigEndian.AppendUint32(f.out, uint32(len(payload)))
	f.out = append(f.out, payload...)
	_, err := f.rw.Write(f.out)
	return err
}

// WriteJSON sends v as one frame.
func (f *Frames) WriteJSON(kind Kind, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.Write(kind, body)
}

// Read returns the next frame. The payload is valid until the next Read. io.EOF comes only between frames.
func (f *Frames) Read() (Kind, []byte, error) {
	if _, err := io.ReadFull(f.rw, f.in[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(f.in[1:])
	if n > MaxFrame {
		return 0, nil, ErrTooLarge
	}
	if cap(f.buf) < int(n) {
		f.buf = make([]byte, n)
	}
	f.buf = f.buf[:n]
	if _, err := io.ReadFull(f.rw, f.buf); err != nil {
		return 0, nil, unexpected(err)
	}
	return Kind(f.in[0]), f.buf, nil
}

// unexpected keeps io.EOF for the boundary between messages.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
