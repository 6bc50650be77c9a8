package skill_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"
)

// zipped is a zip with empty members; a name with a leading ! is marked as encrypted.
func zipped(t *testing.T, names ...string) string {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range names {
		h := &zip.FileHeader{Name: name}
		if name[0] == '!' {
			h.Flags |= 1
		}
		_, err := w.CreateRaw(h)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.String()
}

func tarred(t *testing.T, headers ...*tar.Header) string {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, h := range headers {
		require.NoError(t, w.WriteHeader(h))
	}
	require.NoError(t, w.Close())
	return buf.String()
}

func zippedUp(t *testing.T, data string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err := w.Write([]byte(data))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.String()
}

func TestArchives(t *testing.T) {
	good := tarred(t, &tar.Header{Name: "a/b"}, &tar.Header{Name: "a/c", Typeflag: tar.TypeSymlink, Linkname: "../a/b"})
	link := tarred(t, &tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "../../etc"})
	cases := []struct{ name, data, want string }{
		{"zip", zipped(t, "a/b", "a/../c"), ""},
		{"zip that climbs", zipped(t, "a", "a/../../b"), "JOY-ARCHIVE error"},
		{"zip with an absolute name", zipped(t, "/etc/passwd"), "JOY-ARCHIVE error"},
		{"zip for Windows", zipped(t, `..\b`), "JOY-ARCHIVE error"},
		{"zip with a drive", zipped(t, `C:\b`), "JOY-ARCHIVE error"},
		{"zip with a password", zipped(t, "!a"), "JOY-ARCHIVE-LOCKED warning"},
		{"zip that is cut", zipped(t, "a")[:40], "JOY-UNREAD note"},
		{"tar", good, ""},
		{"tar that climbs", tarred(t, &tar.Header{Name: "../b"}), "JOY-ARCHIVE error"},
		{"tar with a link out", link, "JOY-ARCHIVE error"},
		{"tar with an absolute link", tarred(t, &tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}), "JOY-ARCHIVE error"},
		{"tar.gz with a link out", zippedUp(t, link), "JOY-ARCHIVE error"},
		{"tar.gz", zippedUp(t, good), ""},
		{"one compressed file", zippedUp(t, "tea"), ""},
		{"gz that is cut", zippedUp(t, good)[:20], ""},
		{"gz that is none", "\x1f\x8bxxxxxxxxxxxxxxxxxxxxxxxx", "JOY-UNREAD note"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := risky(t, "SKILL.md", skillMD("", ""), "a.bin", c.data)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Equal(t, []string{c.want}, got)
		})
	}
}
