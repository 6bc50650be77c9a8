package image

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func rootTar(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	for _, h := range headers {
		require.NoError(t, tw.WriteHeader(&h))
	}
	require.NoError(t, tw.Close())
	file := filepath.Join(t.TempDir(), "root.tar")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	return file
}

func TestSurvey(t *testing.T) {
	old, made := time.Unix(1_000_000_000, 0), time.Unix(2_000_000_000, 0)
	file := func(name string, mode int64) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, ModTime: old}
	}
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to, Mode: 0o777, ModTime: old}
	}
	s, err := surveyRoot(rootTar(t,
		tar.Header{Typeflag: tar.TypeDir, Name: "./usr/bin/", Mode: 0o755, ModTime: made},
		tar.Header{Typeflag: tar.TypeDir, Name: "./usr/bin/dir/", Mode: 0o755, ModTime: old},
		link("./bin", "usr/bin"),
		file("./usr/bin/python3.11", 0o755),
		link("./usr/bin/python3", "python3.11"),
		link("./usr/bin/py", "/bin/python3"), // through a directory that is itself a link
		link("./usr/bin/editor", "/etc/alternatives/editor"),
		link("./etc/alternatives/editor", "/usr/bin/missing"),
		link("./usr/bin/round", "round"),
		link("./usr/bin/escape", "../../../../bin/python3"), // the kernel stops at the root, too
		file("./usr/bin/README", 0o644),
		file("./usr/lib/hidden", 0o755),
		file("./usr/local/bin/node", 0o755),
		tar.Header{Typeflag: tar.TypeLink, Name: "./usr/sbin/twin", Linkname: "./usr/local/bin/node", Mode: 0o755, ModTime: old},
	), old.Add(time.Second))
	require.NoError(t, err)
	require.Equal(t, []string{"escape", "node", "py", "python3", "python3.11", "twin"}, s.programs)
	require.Equal(t, old.Unix(), s.newest.Unix())
}

func TestSurveyRefuses(t *testing.T) {
	_, err := surveyRoot(rootTar(t), time.Now())
	require.ErrorContains(t, err, "no file in it came out of a package")
	_, err = surveyRoot(filepath.Join(t.TempDir(), "absent"), time.Now())
	require.ErrorIs(t, err, os.ErrNotExist)
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, bytes.Repeat([]byte("x"), 1024), 0o600))
	_, err = surveyRoot(broken, time.Now())
	require.ErrorIs(t, err, tar.ErrHeader)
}
