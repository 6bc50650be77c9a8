package digest_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
)

const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestBytesAndReaderAgree(t *testing.T) {
	require.Equal(t, "sha256:"+emptySum, digest.Bytes(nil))
	name, n, err := digest.Reader(iotest.OneByteReader(strings.NewReader("joy")))
	require.NoError(t, err)
	require.Equal(t, int64(3), n)
	require.Equal(t, digest.Bytes([]byte("joy")), name)
	require.True(t, digest.Valid(name))

	broken := errors.New("cable pulled")
	_, _, err = digest.Reader(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestValidHasOneSpelling(t *testing.T) {
	for _, s := range []string{
		"", "sha256:", emptySum, "SHA256:" + emptySum, "sha256:" + strings.ToUpper(emptySum),
		"sha256:" + emptySum[1:], "sha256:" + emptySum + "0", "sha256:" + emptySum[:63] + "g", " sha256:" + emptySum,
		"sha512:" + emptySum + emptySum,
	} {
		require.False(t, digest.Valid(s), s)
	}
}

func TestTreeChangesWithEverythingThatCounts(t *testing.T) {
	base := []digest.File{{Path: "a", Mode: "0644", SHA256: emptySum}, {Path: "b/c", Mode: "0755", Size: 1, SHA256: strings.Repeat("0", 64)}}
	change := func(f func(fs []digest.File) []digest.File) []digest.File {
		return f(append([]digest.File(nil), base...))
	}
	variants := map[string][]digest.File{
		"base":    base,
		"nothing": nil,
		"mode":    change(func(fs []digest.File) []digest.File { fs[0].Mode = "0755"; return fs }),
		"renamed": change(func(fs []digest.File) []digest.File { fs[0].Path = "A"; return fs }),
		"bytes":   change(func(fs []digest.File) []digest.File { fs[0].SHA256 = strings.Repeat("1", 64); return fs }),
		"size":    change(func(fs []digest.File) []digest.File { fs[0].Size = 2; return fs }),
		"empty file more": change(func(fs []digest.File) []digest.File {
			return append(fs, digest.File{Path: "z", Mode: "0644", SHA256: emptySum})
		}),
		"file less":   base[:1],
		"other order": {base[1], base[0]},
		"one file whose name spells two": {{
			Path: "a,\n4:0755,64:" + strings.Repeat("0", 64) + ",1:1,3:b/c", Mode: "0644",
			SHA256: emptySum,
		}},
	}
	seen := map[string]string{}
	for name, files := range variants {
		d := digest.Tree(files)
		if other, ok := seen[d]; ok {
			require.ElementsMatch(t, []string{"base", "other order"}, []string{name, other})
		}
		seen[d] = name
	}
	require.Len(t, seen, len(variants)-1)
}
