package client

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// files is a daemon's memory of files.
type files map[string]string

func (f files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("path")
	switch {
	case r.URL.Path == "/filesystem.Filesystem/Move":
		body, _ := io.ReadAll(r.Body)
		from, to, _ := strings.Cut(strings.Trim(string(body), `{}"`), `","source":"`)
		to = strings.TrimSuffix(to, `"`)
		dest := strings.TrimPrefix(from, `destination":"`)
		f[dest] = f[to]
		delete(f, to)
		answer{200, nil, `{}`}.to(w)
	case r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data"):
		part, _, err := r.FormFile("file")
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		body, _ := io.ReadAll(part)
		f[name] = string(body)
		answer{200, nil, `[]`}.to(w)
	case r.Method == http.MethodPost:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		f[name] = string(body)
		answer{200, nil, `[]`}.to(w)
	case f[name] == "":
		answer{404, nil, `{"code":404,"message":"file not found"}`}.to(w)
	default:
		answer{200, nil, f[name]}.to(w)
	}
}

func TestUpload(t *testing.T) {
	content := string(bytes.Repeat([]byte("x\r\n--\x00"), 10_000))
	for _, version := range []string{"0.6.13", "0.5.6"} { // as a body, and as a form
		f := files{}
		c := serve(t, f.ServeHTTP)
		d, err := c.Daemon(Created{ID: "i1", Daemon: version, AccessToken: "token"}, "root")
		require.NoError(t, err)
		require.NoError(t, d.Upload(t.Context(), "/joy/in.tar", strings.NewReader(content), int64(len(content))))
		require.Equal(t, files{"/joy/in.tar": content}, f, "nothing is left beside it")

		r, size, err := d.Download(t.Context(), "/joy/in.tar")
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, content, string(got))
		require.Contains(t, []int64{-1, int64(len(content))}, size)
	}
}

// A file that is shorter than was said never gets its name.
func TestUploadOfTooLittle(t *testing.T) {
	f := files{}
	d := daemon(t, f.ServeHTTP)
	require.Error(t, d.Upload(t.Context(), "/joy/in.tar", strings.NewReader("abc"), 10))
	require.Empty(t, f["/joy/in.tar"])
}

func TestUploadRefused(t *testing.T) {
	for name, test := range map[string]struct {
		answer
		kind error
	}{
		"no room":     {answer{507, nil, `{"code":507,"message":"not enough disk space"}`}, ErrUnavailable},
		"a bad token": {answer{401, nil, `{"code":401,"message":"no"}`}, ErrKey},
		"cut":         {answer{}, ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			var count atomic.Int64
			d := daemon(t, script(&count, test.answer))
			require.ErrorIs(t, d.Upload(t.Context(), "/joy/in.tar", strings.NewReader("abc"), 3), test.kind)
			require.EqualValues(t, 1, count.Load())
		})
	}
}

func TestDownloadRefused(t *testing.T) {
	var count atomic.Int64
	_, _, err := daemon(t, script(&count, answer{404, nil, `{"code":404,"message":"no such file"}`})).Download(t.Context(), "/x")
	require.ErrorIs(t, err, ErrNotFound)
	_, _, err = daemon(t, script(&count, answer{200, map[string]string{"Content-Encoding": "gzip"}, "x"})).Download(t.Context(), "/x")
	require.ErrorIs(t, err, ErrProtocol)
	r, _, err := daemon(t, script(&count, answer{200, map[string]string{"Content-Length": "100"}, "x"})).Download(t.Context(), "/x")
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, r.Close())
}

func TestDaemonOf(t *testing.T) {
	c, err := New(Config{Key: testKey})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		created Created
		base    string
		says    string
	}{
		"hosted":         {Created{ID: "i1", Daemon: "0.6.13", AccessToken: "t"}, "https://sandbox.e2b.app", ""},
		"a domain":       {Created{ID: "i1", Daemon: "v0.4.0", AccessToken: "t", Domain: "eu.example.com"}, "https://49983-i1.eu.example.com", ""},
		"no token":       {Created{ID: "i1", Daemon: "0.6.13"}, "", "no token"},
		"an old daemon":  {Created{ID: "i1", Daemon: "0.2.9", AccessToken: "t"}, "", "build it again"},
		"no version":     {Created{ID: "i1", AccessToken: "t"}, "", "build it again"},
		"a bad domain":   {Created{ID: "i1", Daemon: "0.6.13", AccessToken: "t", Domain: "evil.example.com/x?"}, "", "its domain is"},
		"a token's line": {Created{ID: "i1", Daemon: "0.6.13", AccessToken: "t\r\nX: y"}, "", "no token"},
		"a bad id":       {Created{ID: "i1.evil", Daemon: "0.6.13", AccessToken: "t"}, "", "not an id"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := c.Daemon(test.created, "root")
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.base, d.base.String())
		})
	}
}
