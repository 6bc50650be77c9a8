//go:build unix

// Package examples_test runs the scripts of the examples in a step's world, with archives that mean well and others.
package examples_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"
)

// member is one member of a test archive. The zero type is a regular file of mode 0644.
type member struct {
	name, body string
	kind       byte
	mode       int64
	link       string
}

// archive writes members as they are: also names no honest tar would hold.
func archive(t *testing.T, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, m := range members {
		header := &tar.Header{
			Name: m.name, Typeflag: m.kind, Mode: m.mode, Linkname: m.link, Size: int64(len(m.body)), Format: tar.FormatGNU,
		}
		if header.Typeflag == 0 {
			header.Typeflag = tar.TypeReg
		}
		if header.Mode == 0 {
			header.Mode = 0o644
		}
		require.NoError(t, w.WriteHeader(header))
		_, err := w.Write([]byte(m.body))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// files is an archive of regular files, given as name, content, name, content …
func files(t *testing.T, pairs ...string) []byte {
	t.Helper()
	var members []member
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, member{name: pairs[i], body: pairs[i+1]})
	}
	return archive(t, members...)
}

func zip(t *testing.T, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// raw is one header block with its checksum set, for what archive/tar refuses to write.
func raw(name string, kind byte, size string, body string) []byte {
	block := make([]byte, 512, 512+len(body)+511)
	copy(block, name)
	copy(block[100:], "0000644\x000000000\x000000000\x00")
	copy(block[124:136], size)
	copy(block[136:], "00000000000\x00        ")
	block[156] = kind
	copy(block[257:], "ustar\x0000")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:156], []byte{
		'0', byte('0' + sum>>15&7), byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7), byte('0' + sum>>3&7), byte('0' + sum&7), 0,
	})
	block = append(block, body...)
	return append(block, make([]byte, (512-len(body)%512)%512)...)
}
