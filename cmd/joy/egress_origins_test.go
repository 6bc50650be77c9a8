//go:build linux

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// greeting is what every origin has to give.
const greeting = "hello from outside"

// origins are the servers that programs in the VM talk to: files, a git repository, an index of Python packages and a
// registry of npm's, each under a name of its own.
func origins(t *testing.T) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(pattern, kind string, body []byte) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(body)
		})
	}
	serve("files.example.com/hello", "text/plain", []byte(greeting+"\n"))
	mux.HandleFunc("files.example.com/up", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %d\n", r.Method, n)
	})
	mux.Handle("git.example.com/", http.FileServer(http.Dir(repository(t))))

	wheel := wheel(t)
	sum := sha256.Sum256(wheel)
	serve("pypi.example.com/simple/greet/", "text/html",
		fmt.Appendf(nil, `<!DOCTYPE html><a href="/files/greet-1.0-py3-none-any.whl#sha256=%s">greet-1.0-py3-none-any.whl</a>`, hex.EncodeToString(sum[:])))
	serve("pypi.example.com/files/", "application/octet-stream", wheel)

	tarball := tarball(t)
	integrity := sha512.Sum512(tarball)
	document, err := json.Marshal(map[string]any{
		"name": "greet", "dist-tags": map[string]string{"latest": "1.0.0"},
		"versions": map[string]any{"1.0.0": map[string]any{
			"name": "greet", "version": "1.0.0", "main": "index.js",
			"dist": map[string]string{
				"tarball":   "https://registry.example.com/greet/-/greet-1.0.0.tgz",
				"integrity": "sha512-" + base64.StdEncoding.EncodeToString(integrity[:]),
			},
		}},
	})
	require.NoError(t, err)
	serve("registry.example.com/greet", "application/json", document)
	serve("registry.example.com/greet/-/greet-1.0.0.tgz", "application/octet-stream", tarball)
	return mux
}

// repository is a directory with greet.git, which can be cloned from a plain file server
// (https://git-scm.com/book/en/v2/Git-Internals-Transfer-Protocols, the dumb protocol).
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	require.NoError(t, os.MkdirAll(work, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(work, "greeting"), []byte(greeting+"\n"), 0o600))
	for _, line := range []string{
		"-C work init -q -b main", "-C work add greeting", "-C work -c user.name=t -c user.email=t@example.com commit -q -m greet",
		"clone -q --bare work greet.git", "-C greet.git update-server-info",
	} {
		cmd := exec.CommandContext(t.Context(), "git", strings.Fields(line)...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "git %s: %s", line, out)
	}
	return dir
}

// wheel is a Python package (https://packaging.python.org/specifications/binary-distribution-format/).
func wheel(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, file := range [][2]string{
		{"greet.py", "text = '" + greeting + "'\n"},
		{"greet-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n"},
		{"greet-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"greet-1.0.dist-info/RECORD", "greet.py,,\ngreet-1.0.dist-info/METADATA,,\ngreet-1.0.dist-info/WHEEL,,\ngreet-1.0.dist-info/RECORD,,\n"},
	} {
		f, err := w.Create(file[0])
		require.NoError(t, err)
		_, err = io.WriteString(f, file[1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// tarball is an npm package.
func tarball(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, file := range [][2]string{
		{"package/package.json", `{"name":"greet","version":"1.0.0","main":"index.js"}`},
		{"package/index.js", "module.exports = '" + greeting + "'\n"},
	} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: file[0], Mode: 0o644, Size: int64(len(file[1])), Typeflag: tar.TypeReg}))
		_, err := io.WriteString(w, file[1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, zipped.Close())
	return out.Bytes()
}
