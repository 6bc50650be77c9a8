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

// EncodeMessage is v as a 4-byte big-endian length and JSON.
func EncodeMessage(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(body) > MaxMessage {
		return nil, ErrTooLarge
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))), body...), nil
}

// WriteMessage writes v in one Write.
func WriteMessage(w io.Writer, v any) error {
	b, err := EncodeMessage(v)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// EndWithMessage writes v as the last bytes of a stream.
func EndWithMessage(st *Stream, v any) error {
	b, err := EncodeMessage(v)
	if err != nil {
		return err
	}
	return st.WriteEnd(b)
}

// ReadMessage reads one message.
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
	_, err := f.rw.Write(f.encode(kind, payload))
	return err
}

func (f *Frames) encode(kind Kind, payload []byte) []byte {
	f.out = append(f.out[:0], byte(kind))
	f.out = binary.BigEndian.AppendUint32(f.out, uint32(len(payload)))
	f.out = append(f.out, payload...)
	return f.out
}

// WriteJSON sends v as one frame.
func (f *Frames) WriteJSON(kind Kind, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.Write(kind, body)
}

// End sends v as the last frame, and with it the end of the stream where rw can: that spares the channel a trip. A nil
// v is an empty payload.
func (f *Frames) End(kind Kind, v any) error {
	var body []byte
	if v != nil {
		var err error
		if body, err = json.Marshal(v); err != nil {
			return err
		}
	}
	if st, ok := f.rw.(interface{ WriteEnd(p []byte) error }); ok && len(body) <= MaxFrame {
		return st.WriteEnd(f.encode(kind, body))
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
