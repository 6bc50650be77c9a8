package image

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func downloader(t *testing.T) *builder {
	t.Helper()
	return &builder{arch: "amd64", Options: Options{
		Progress: func(Progress) {}, LookupEnv: func(string) (string, bool) { return "", false },
	}}
}

// serve answers each path with its bytes, and 404 for every other.
func serve(t *testing.T, content map[string][]byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := content[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		size := len(b)
		if r.URL.Path == "/torn" {
			size++
		}
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(b) // the client may have gone
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func sri(b []byte) string {
	sum := sha512.Sum512(b)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func TestFetchRefuses(t *testing.T) {
	data := bytes.Repeat([]byte("data"), 1000)
	url := serve(t, map[string][]byte{"/file": data, "/torn": data})
	for name, tc := range map[string]struct{ url, integrity, want string }{
		"other bytes":      {url + "/file", sri([]byte("other")), "it must be sha512-"},
		"no digest":        {url + "/file", "", "it must be"},
		"weaker digest":    {url + "/file", "md5-x", "it must be"},
		"not there":        {url + "/absent", sri(data), "404"},
		"cut off":          {url + "/torn", sri(data), "unexpected EOF"},
		"nobody listens":   {"http://127.0.0.1:1/file", sri(data), "connection refused"},
		"not an address":   {"http://[", sri(data), "download"},
		"larger than that": {url + "/file", sri(data), "more than 3999 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			limit := int64(len(data))
			if name == "larger than that" {
				limit--
			}
			file := filepath.Join(t.TempDir(), "f")
			_, err := downloader(t).fetch(t.Context(), "it", tc.url, file, limit, tc.integrity)
			require.ErrorContains(t, err, tc.want)
			require.NoFileExists(t, file)
		})
	}
}

func TestFetch(t *testing.T) {
	data := bytes.Repeat([]byte("data"), 1000)
	url := serve(t, map[string][]byte{"/file": data})
	b, last := downloader(t), Progress{}
	b.Progress = func(p Progress) { last = p }
	file := filepath.Join(t.TempDir(), "f")
	sum, err := b.fetch(t.Context(), "it", url+"/file", file, 4000, sri(data))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(data)), sum)
	require.Equal(t, Progress{"downloading it", 4000, 4000}, last)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, data, got)

	ctx, cancel := context.WithCancel(t.Context())
	b.Progress = func(Progress) { cancel() }
	_, err = b.fetch(ctx, "it", url+"/file", file, 4000, sri(data))
	require.ErrorIs(t, err, context.Canceled)
}

// tgz packs headers, whose files hold their own names, as npm does.
func tgz(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.tgz")
	out, err := os.Create(file)
	require.NoError(t, err)
	defer out.Close()
	zw := gzip.NewWriter(out)
	tw := tar.NewWriter(zw)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		require.NoError(t, tw.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err = tw.Write([]byte(h.Name))
			require.NoError(t, err)
		}
	}
	require.NoError(t, tw.Close())
	require.NoError(t, zw.Close())
	return file
}

func TestCopyPlaced(t *testing.T) {
	file := tgz(t,
		tar.Header{Typeflag: tar.TypeReg, Name: "package/bin/node", Mode: 0o755},
		tar.Header{Typeflag: tar.TypeReg, Name: "package/LICENSE", Mode: 0o600, Uid: 501},
		tar.Header{Typeflag: tar.TypeReg, Name: "package/include/node/x.h", Mode: 0o644},
		tar.Header{Typeflag: tar.TypeReg, Name: "package/../../etc/passwd", Mode: 0o644},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "package/bin/node", Linkname: "/bin/sh"},
	)
	for place, want := range map[string][]item{
		"node": {
			{name: "usr/local/bin/node", data: []byte("package/bin/node")},
			{name: "usr/local/share/doc/node/LICENSE", data: []byte("package/LICENSE")},
		},
		"npm": {
			{name: "usr/local/lib/node_modules/npm/bin/node", data: []byte("package/bin/node")},
			{name: "usr/local/lib/node_modules/npm/LICENSE", data: []byte("package/LICENSE")},
			{name: "usr/local/lib/node_modules/npm/include/node/x.h", data: []byte("package/include/node/x.h")},
		},
	} {
		var out bytes.Buffer
		tw := tar.NewWriter(&out)
		of := map[string]npmPackage{"node": nodePackage, "npm": npmItself}[place]
		require.NoError(t, copyPlaced(file, of.place, tw))
		require.NoError(t, tw.Close())
		require.Equal(t, want, readItems(t, out.Bytes()), place)
	}
	notPacked := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(notPacked, []byte("text"), 0o600))
	require.Error(t, copyPlaced(notPacked, nodePackage.place, tar.NewWriter(&bytes.Buffer{})))
}

func wheel(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(name))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// release is what PyPI says of a release whose wheel is at address.
func release(platform, address string, whl []byte) []byte {
	return fmt.Appendf(nil, `{"urls":[{"filename":"uv-%[1]s.tar.gz","url":"http://127.0.0.1:1/","digests":{"sha256":"%[5]s"}},
		{"filename":"uv-%[1]s-py3-none-manylinux_2_17_%[2]s.manylinux2014_%[2]s.whl","url":"%[3]s","digests":{"sha256":"%[4]x"}}]}`,
		uvVersion, platform, address, sha256.Sum256(whl), strings.Repeat("0", 64))
}

func TestUV(t *testing.T) {
	good := wheel(t, "uv-"+uvVersion+".data/scripts/uv", "uv-"+uvVersion+".data/scripts/../../../x", "uv/__init__.py", "uv-"+uvVersion+".dist-info/licenses/LICENSE-MIT")
	index := "/uv/" + uvVersion + "/json"
	for name, tc := range map[string]struct {
		whl      []byte
		platform string
		answer   func(url string, whl []byte) []byte // nil = release
		want     string                              // "" = left out
	}{
		"nobody there":        {answer: func(string, []byte) []byte { return nil }},
		"not for this":        {whl: good, platform: "riscv64", want: "no wheel of uv"},
		"the index is text":   {answer: func(string, []byte) []byte { return []byte("<html>") }, want: "read what PyPI says"},
		"other bytes":         {whl: good, platform: "x86_64", answer: func(url string, _ []byte) []byte { return release("x86_64", url, []byte("other")) }, want: "it must be"},
		"no program in it":    {whl: wheel(t, "uv/__init__.py"), platform: "x86_64", want: "no program in it"},
		"the wheel is no zip": {whl: []byte("text"), platform: "x86_64", want: "unpack uv"},
		"the wheel is gone":   {whl: good, platform: "x86_64", answer: func(url string, whl []byte) []byte { return release("x86_64", url+"x", whl) }, want: "404"},
		"good":                {whl: good, platform: "x86_64", want: "good"},
	} {
		t.Run(name, func(t *testing.T) {
			content := map[string][]byte{"/whl": tc.whl}
			url := serve(t, content)
			if content[index] = release(tc.platform, url+"/whl", tc.whl); tc.answer != nil {
				content[index] = tc.answer(url+"/whl", tc.whl)
			}
			if content[index] == nil {
				delete(content, index)
			}
			b := downloader(t)
			var out bytes.Buffer
			tw := tar.NewWriter(&out)
			err := b.uvTake(t.Context(), url, tw, t.TempDir())
			require.NoError(t, tw.Close())
			switch tc.want {
			case "good":
				require.NoError(t, err)
				require.Equal(t, []item{
					{name: "usr/local/bin/uv", data: []byte("uv-" + uvVersion + ".data/scripts/uv")},
					{name: "usr/local/share/doc/uv/LICENSE-MIT", data: []byte("uv-" + uvVersion + ".dist-info/licenses/LICENSE-MIT")},
				}, readItems(t, out.Bytes()))
				require.Equal(t, []Package{{"uv", uvVersion, "amd64", fmt.Sprintf("%x", sha256.Sum256(good)), "pypi"}}, b.packages)
			case "":
				require.NoError(t, err)
				require.Equal(t, []LeftOut{{"uv", "PyPI cannot be reached"}}, b.leftOut)
				require.Empty(t, b.packages)
			default:
				require.ErrorContains(t, err, tc.want)
			}
		})
	}
}

func TestSpace(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	require.NoError(t, checkSpace("this", []spaceNeed{{a, 1}, {b, 1}}))
	require.ErrorContains(t, checkSpace("this", []spaceNeed{{a, 1 << 60}}), "this takes 1099511627776 MiB below "+a+", which has ")
	require.ErrorContains(t, checkSpace("this", []spaceNeed{{filepath.Join(a, "x"), 1}}), "look at the free space")

	// Two on one disk share it.
	free := freeOf(t, a)
	require.NoError(t, checkSpace("this", []spaceNeed{{a, free * 3 / 5}}))
	require.Error(t, checkSpace("this", []spaceNeed{{a, free * 3 / 5}, {b, free * 3 / 5}}))
}

func freeOf(t *testing.T, dir string) uint64 {
	t.Helper()
	var fs unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &fs))
	return fs.Bavail * uint64(fs.Bsize)
}

func TestStages(t *testing.T) {
	var said []string
	s := &stages{tell: func(p Progress) { said = append(said, p.Phase) }}
	for _, part := range []string{"I: running apt-get up", "date...\nI: something new\n", string(bytes.Repeat([]byte("x"), 1000)), "\nI: creating tarball...\n"} {
		_, err := s.Write([]byte(part))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"reading the package index", "collecting the root"}, said)
	require.LessOrEqual(t, cap(s.line), 2*maxStage)
}
