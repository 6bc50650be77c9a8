package guestproto

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMessageRefuses(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, MaxMessage+1)
	for name, tc := range map[string]struct {
		in   []byte
		want error
	}{
		"nothing":         {nil, io.EOF},
		"half a length":   {[]byte{0, 0}, io.ErrUnexpectedEOF},
		"half a body":     {[]byte{0, 0, 0, 9, '{'}, io.ErrUnexpectedEOF},
		"length, no body": {[]byte{0, 0, 0, 9}, io.ErrUnexpectedEOF},
		"too large":       {long, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, ReadMessage(bytes.NewReader(tc.in), &Request{}), tc.want)
		})
	}
	require.ErrorContains(t, ReadMessage(bytes.NewReader([]byte("\x00\x00\x00\x02{]")), &Request{}), "invalid character")
	_, err := EncodeMessage(strings.Repeat("x", MaxMessage))
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestMessageRoundTrip(t *testing.T) {
	var b bytes.Buffer
	sent := Request{Op: OpRun, World: "render", Run: &Run{Argv: []string{"sh", "-c", "true"}, Env: map[string]string{"A": "b"}}}
	write(t, &b, sent)
	var got Request
	require.NoError(t, ReadMessage(&b, &got))
	require.Equal(t, sent, got)
}

func TestFramesRefuse(t *testing.T) {
	huge := append([]byte{byte(FrameStdout)}, binary.BigEndian.AppendUint32(nil, MaxFrame+1)...)
	for name, tc := range map[string]struct {
		in   []byte
		want error
	}{
		"nothing":      {nil, io.EOF},
		"half a head":  {[]byte{1, 0}, io.ErrUnexpectedEOF},
		"half a body":  {[]byte{1, 0, 0, 0, 3, 'a'}, io.ErrUnexpectedEOF},
		"no body":      {[]byte{1, 0, 0, 0, 3}, io.ErrUnexpectedEOF},
		"giant length": {huge, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := NewFrames(bytes.NewBuffer(tc.in)).Read()
			require.ErrorIs(t, err, tc.want)
		})
	}
	require.ErrorIs(t, NewFrames(&bytes.Buffer{}).Write(FrameData, make([]byte, MaxFrame+1)), ErrTooLarge)
}

func TestFramesRoundTrip(t *testing.T) {
	f := NewFrames(&bytes.Buffer{})
	require.NoError(t, f.Write(FrameStdout, []byte("caf\xc3")))
	require.NoError(t, f.Write(FrameStdinEOF, nil))
	kind, body, err := f.Read()
	require.NoError(t, err)
	require.Equal(t, FrameStdout, kind)
	require.Equal(t, []byte("caf\xc3"), body)
	kind, body, err = f.Read()
	require.NoError(t, err)
	require.Equal(t, FrameStdinEOF, kind)
	require.Empty(t, body)
}

// FuzzFrames: whatever a guest sends, reading ends without a panic and never holds more than one frame.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{byte(FrameExit), 0, 0, 0, 2, '{', '}'})
	f.Add([]byte{byte(FrameData), 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		frames := NewFrames(bytes.NewBuffer(bytes.Clone(in)))
		var again bytes.Buffer
		back := NewFrames(&again)
		for {
			kind, body, err := frames.Read()
			if err != nil {
				break
			}
			require.LessOrEqual(t, len(body), MaxFrame)
			require.NoError(t, back.Write(kind, body))
		}
		require.True(t, bytes.HasPrefix(in, again.Bytes()), "what was read is what was sent")
	})
}

// FuzzMessage: a message that is read can be written again and read as the same request.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x0d{\"op\":\"ping\"}"))
	f.Add([]byte("\x00\x00\x00\x02{]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var first, second Request
		if ReadMessage(bytes.NewReader(in), &first) != nil {
			return
		}
		var b bytes.Buffer
		write(t, &b, first)
		require.NoError(t, ReadMessage(&b, &second))
	})
}

func write(t testing.TB, w io.Writer, v any) {
	t.Helper()
	b, err := EncodeMessage(v)
	require.NoError(t, err)
	_, err = w.Write(b)
	require.NoError(t, err)
}
