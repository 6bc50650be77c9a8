package guestproto

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/hashicorp/yamux"
	"github.com/stretchr/testify/require"
)

// wire keeps each write apart.
type wire struct {
	writes [][]byte
	fail   error
}

func (w *wire) Write(b []byte) (int, error) {
	if w.fail != nil {
		return 0, w.fail
	}
	w.writes = append(w.writes, bytes.Clone(b))
	return len(b), nil
}

func (w *wire) Read([]byte) (int, error) { return 0, io.EOF }
func (w *wire) Close() error             { return nil }

func TestPack(t *testing.T) {
	data := []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 12} // a header of 12 bytes of data
	open := []byte{0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0}
	ping := []byte{0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7}
	fin := []byte{0, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0}
	for name, tc := range map[string]struct {
		in   [][]byte
		want int
	}{
		"a lone frame goes at once":               {[][]byte{ping}, 1},
		"the end of a stream goes at once":        {[][]byte{fin}, 1},
		"header and body go together":             {[][]byte{data, []byte("hello, world")}, 1},
		"opening, header and body go together":    {[][]byte{open, data, []byte("hello, world")}, 1},
		"a body that looks like a header is none": {[][]byte{data, data, ping}, 2},
		"nothing waits behind what is whole":      {[][]byte{data, data, fin, ping}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := &wire{}
			p := Pack(w)
			for _, b := range tc.in {
				n, err := p.Write(b)
				require.NoError(t, err)
				require.Equal(t, len(b), n)
			}
			require.Len(t, w.writes, tc.want)
			require.Equal(t, bytes.Join(tc.in, nil), bytes.Join(w.writes, nil), "no byte is lost or moved")
		})
	}
	w := &wire{fail: errors.New("closed")}
	p := Pack(w)
	_, err := p.Write(data)
	require.NoError(t, err, "held")
	_, err = p.Write([]byte("hello, world"))
	require.ErrorContains(t, err, "closed")
}

// TestPackCarriesSessions runs two sessions over packed pipes: yamux and the packer agree on what a frame is.
func TestPackCarriesSessions(t *testing.T) {
	a, b := net.Pipe()
	client, err := yamux.Client(Pack(a), Session())
	require.NoError(t, err)
	defer client.Close()
	server, err := yamux.Server(Pack(b), Session())
	require.NoError(t, err)
	defer server.Close()
	go func() {
		for {
			s, err := server.AcceptStream()
			if err != nil {
				return
			}
			go func() {
				defer s.Close()
				_, _ = io.Copy(s, s)
			}()
		}
	}()
	for _, size := range []int{1, 12, 13, 100_000, 1 << 20} {
		s, err := client.OpenStream()
		require.NoError(t, err)
		sent := bytes.Repeat([]byte{0}, size)
		go func() {
			_, _ = s.Write(sent)
			_ = s.Close()
		}()
		got, err := io.ReadAll(s)
		require.NoError(t, err)
		require.Equal(t, sent, got)
	}
}
