package guestproto

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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
	FrameBeside  // a FileHeader with Beside and Size only: the next frames, so many bytes of them, are in that file
)

// Frames reads and writes frames on one stream: a kind, a 4-byte big-endian length, the payload. Reading and writing
// are independent; neither is safe for concurrent use on its own.
type Frames struct {
	rw   io.ReadWriter
	in   [frameHead]byte
	buf  []byte
	out  []byte // what is held, behind room for a chunk's head
	hold bool
}

const frameHead = 5

// NewFrames takes over rw, which should be unbuffered: each frame is one Write.
func NewFrames(rw io.ReadWriter) *Frames { return &Frames{rw: rw} }

// Hold lets frames be held until they fill a chunk, or until End: a trip through the channel costs more than a copy.
func (f *Frames) Hold() { f.hold = true }

// Write sends one frame. A payload over MaxFrame is ErrTooLarge.
func (f *Frames) Write(kind Kind, payload []byte) error {
	if len(payload) > MaxFrame {
		return ErrTooLarge
	}
	if err := f.room(len(payload)); err != nil {
		return err
	}
	f.out = append(f.head(kind, len(payload)), payload...)
	return f.sent()
}

// Fill sends one frame whose payload, of at most most bytes, read puts in place. A frame of nothing is not sent.
func (f *Frames) Fill(kind Kind, most int64, read func([]byte) (int, error)) (int, error) {
	if err := f.room(int(min(most, MaxChunk/2))); err != nil {
		return 0, err
	}
	begin := len(f.out)
	f.out = slices.Grow(f.out, chunkHead+MaxChunk-begin)
	f.out = f.head(kind, 0)
	space := f.out[len(f.out):cap(f.out)]
	n, failed := read(space[:min(most, int64(len(space)), MaxChunk-frameHead)])
	if n <= 0 {
		f.out = f.out[:begin]
		return 0, failed
	}
	binary.BigEndian.PutUint32(f.out[begin+1:], uint32(n))
	f.out = f.out[:len(f.out)+n]
	if err := f.sent(); err != nil {
		return n, err
	}
	return n, failed
}

// room makes what is held small enough for n bytes more to stay in one chunk.
func (f *Frames) room(n int) error {
	if f.out == nil {
		f.out = make([]byte, chunkHead, chunkHead+frameHead+n)
	}
	if len(f.out) > chunkHead && len(f.out)+frameHead+n > chunkHead+MaxChunk {
		return f.flush(0)
	}
	return nil
}

func (f *Frames) head(kind Kind, n int) []byte {
	return binary.BigEndian.AppendUint32(append(f.out, byte(kind)), uint32(n))
}

func (f *Frames) sent() error {
	if f.hold && len(f.out) < chunkHead+MaxChunk {
		return nil
	}
	return f.flush(0)
}

// flush sends what is held, and with it the end of the stream where rw can and last asks for it.
func (f *Frames) flush(last byte) error {
	out := f.out
	f.out = f.out[:chunkHead]
	if st, ok := f.rw.(*Stream); ok {
		return st.sendWhole(out, last)
	}
	_, err := f.rw.Write(out[chunkHead:])
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

// End sends v as the last frame, and with it the end of the stream: that spares the channel a trip. A nil v is an empty
// payload.
func (f *Frames) End(kind Kind, v any) error {
	f.Hold()
	var err error
	if v == nil {
		err = f.Write(kind, nil)
	} else {
		err = f.WriteJSON(kind, v)
	}
	if err != nil {
		return err
	}
	return f.flush(markEnd)
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
