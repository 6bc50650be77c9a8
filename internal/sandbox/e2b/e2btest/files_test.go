//go:build linux

package e2btest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// put uploads bytes as they are.
func (b *box) put(query, body string, head map[string]string) answered {
	b.t.Helper()
	if head == nil {
		head = map[string]string{"Content-Type": "application/octet-stream"}
	}
	a, err := b.do("POST", "/files?"+query, b.head(head), body)
	require.NoError(b.t, err)
	return a
}

func (b *box) fetch(query string, head map[string]string) answered {
	b.t.Helper()
	a, err := b.do("GET", "/files?"+query, b.head(head), "")
	require.NoError(b.t, err)
	return a
}

// form is a multipart body; names are file names.
func form(t *testing.T, field string, names ...string) (body string, head map[string]string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for _, name := range names {
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + field + `"; filename="` + name + `"`}})
		require.NoError(t, err)
		_, err = io.WriteString(part, "of "+name)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.String(), map[string]string{"Content-Type": w.FormDataContentType()}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return buf.String()
}

func TestUpload(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	is(t, 200, b.put("path=a/b/c.bin", "\x00\xff", nil))
	require.Equal(t, "user 644 2\nuser 755\n", b.run(`stat -c '%U %a %s' a/b/c.bin; stat -c '%U %a' a`, nil).stdout)
	a := b.put("path=/tmp/r&username=root", "x", nil)
	is(t, 200, a)
	require.JSONEq(t, `[{"name":"r","path":"/tmp/r","type":"file"}]`, a.body)
	require.Equal(t, "root\n", b.run(`stat -c %U /tmp/r`, nil).stdout)
	is(t, 200, b.put("path=z", zipped(t, "plain"), map[string]string{"Content-Type": "application/octet-stream", "Content-Encoding": "gzip"}))
	require.Equal(t, "plain", b.fetch("path=z", nil).body)
	b.run(`chmod 755 z; ln z other`, nil)
	is(t, 200, b.put("path=z", "in place", nil)) // as the real one: neither atomic nor of a mode of its own
	require.Equal(t, "755 in place\n", b.run(`stat -c %a z | tr '\n' ' '; cat other; echo`, nil).stdout)

	body, head := form(t, "file", "one", "/tmp/two")
	a = b.put("", body, head)
	is(t, 200, a)
	require.JSONEq(t, `[{"name":"one","path":"/home/user/one","type":"file"},{"name":"two","path":"/tmp/two","type":"file"}]`, a.body)
	body, head = form(t, "file", "x")
	is(t, 200, b.put("path=~/named", body, head))
	require.Equal(t, "of x", b.fetch("path=/home/user/named", nil).body)
}

func TestUploadRefuses(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	two, head := form(t, "file", "x", "y")
	raw := map[string]string{"Content-Type": "application/octet-stream"}
	for name, c := range map[string]struct {
		query, body string
		head        map[string]string
		want        int
	}{
		"no path":         {"", "x", raw, 400},
		"a directory":     {"path=/tmp", "x", raw, 400},
		"below a file":    {"path=/etc/passwd/x", "x", raw, 400},
		"unknown user":    {"path=x&username=nobody-here", "x", raw, 401},
		"two to one path": {"path=x", two, head, 400},
		"half a form":     {"path=x", two[:len(two)-20], head, 500},
		"neither form":    {"path=x", "x", map[string]string{"Content-Type": "text/plain"}, 400},
		"not compressed":  {"path=x", "x", map[string]string{"Content-Type": raw["Content-Type"], "Content-Encoding": "gzip"}, 400},
		"without a token": {"path=x", "x", map[string]string{"Content-Type": raw["Content-Type"], "X-Access-Token": ""}, 401},
		// By one byte: of a request that is not read to its end the server closes the connection, under the next one.
		"more than fits in": {"path=/dev/shm/x", strings.Repeat("x", 64<<20+1), raw, 507},
	} {
		t.Run(name, func(t *testing.T) { is(t, c.want, b.put(c.query, c.body, c.head)) })
	}
}

func TestDownload(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	is(t, 200, b.put("path=f", "0123456789", nil))
	require.Equal(t, "0123456789", b.fetch("path=f", nil).body)
	a := b.fetch("path=f", map[string]string{"Range": "bytes=2-4"})
	is(t, 206, a)
	require.Equal(t, "234", a.body)
	a = b.fetch("path=f", map[string]string{"Accept-Encoding": "gzip"})
	require.Equal(t, "gzip", a.head.Get("Content-Encoding"))
	require.Equal(t, zipped(t, "0123456789"), a.body)
	for query, want := range map[string]int{
		"path=missing": 404, "path=/tmp": 400, "path=/dev/null": 400, "path=f&username=nobody-here": 401, "path=/home/user/f/x": 500,
	} {
		is(t, want, b.fetch(query, nil))
	}
	is(t, 401, b.fetch("path=f", map[string]string{"X-Access-Token": ""}))
	is(t, 416, b.fetch("path=f", map[string]string{"Range": "bytes=20-30"}))
}

func TestFilesystem(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	b.run(`mkdir -p d/e/f; echo hi >d/x; ln -s x d/l; ln -s nowhere d/dangling`, nil)
	stat := func(path string) (e struct {
		Entry struct{ Name, Type, Path, Size, Permissions, Owner, Group, ModifiedTime, SymlinkTarget string }
	},
	) {
		a := b.call("filesystem.Filesystem/Stat", `{"path":"`+path+`"}`)
		is(t, 200, a)
		require.NoError(t, json.Unmarshal([]byte(a.body), &e))
		return e
	}
	x := stat("d/x").Entry
	require.Regexp(t, `^20\d\d-.*Z$`, x.ModifiedTime)
	x.ModifiedTime = ""
	require.Equal(t, `{x FILE_TYPE_FILE /home/user/d/x 3 -rw-r--r-- user user  }`, fmt.Sprint(x))
	require.Equal(t, "/home/user/d/x", stat("~/d/l").Entry.SymlinkTarget)
	require.Equal(t, "FILE_TYPE_SYMLINK", stat("d/dangling").Entry.Type)
	require.Equal(t, "FILE_TYPE_DIRECTORY", stat("/home/user/d").Entry.Type)

	list := func(body string) string { return b.call("filesystem.Filesystem/ListDir", body).body }
	require.NotContains(t, list(`{"path":"d"}`), `/d/e/f"`)
	require.NotContains(t, list(`{"path":"d","depth":1}`), `/d/e/f"`)
	require.Contains(t, list(`{"path":"d","depth":2}`), `/d/e/f"`)

	for call, want := range map[string]int{
		`Stat {"path":"none"}`: 404, `Stat {"path":"d/x/y"}`: 400, `ListDir {"path":"none"}`: 404, `ListDir {"path":"d/x"}`: 400,
		`MakeDir {"path":"d"}`: 409, `MakeDir {"path":"d/x"}`: 400, `MakeDir {"path":"d/x/y"}`: 400, `MakeDir {"path":"new/er"}`: 200,
		`Move {"source":"none","destination":"d/y"}`: 404, `Move {"source":"d/l","destination":"deep/er/l"}`: 200,
		`Remove {"path":"none"}`: 200, `Remove {"path":"d/e"}`: 200, `Stat {"path":1}`: 400,
		`RemoveWatcher {"watcherId":"none"}`: 404, `GetWatcherEvents {"watcherId":"none"}`: 404, `CreateWatcher {"path":"none"}`: 404,
	} {
		method, body, _ := strings.Cut(call, " ")
		a := b.call("filesystem.Filesystem/"+method, body)
		require.Equal(t, want, a.status, "%s: %s", call, a.body)
	}
	require.Equal(t, "user x\n", b.run(`readlink deep/er/l | xargs echo $(stat -c %U deep/er)`, nil).stdout)
}

func TestWatcher(t *testing.T) {
	b := talk(t, Options{}).create(plain)
	a := b.call("filesystem.Filesystem/CreateWatcher", `{"path":".","recursive":true}`)
	is(t, 200, a)
	var made struct{ WatcherID string }
	require.NoError(t, json.Unmarshal([]byte(a.body), &made))
	b.run(`mkdir sub; touch f; mv f g; rm g`, nil)
	got := ""
	eventually(t, func() bool {
		got += b.call("filesystem.Filesystem/GetWatcherEvents", a.body).body
		return strings.Contains(got, `{"name":"g","type":"EVENT_TYPE_REMOVE"}`)
	})
	require.Contains(t, got, `{"name":"f","type":"EVENT_TYPE_CREATE"}`)
	require.Contains(t, got, `{"name":"f","type":"EVENT_TYPE_RENAME"}`)
	b.run(`touch sub/below`, nil)
	eventually(t, func() bool {
		got += b.call("filesystem.Filesystem/GetWatcherEvents", a.body).body
		return strings.Contains(got, `{"name":"sub/below","type":"EVENT_TYPE_CREATE"}`)
	})
	is(t, 200, b.call("filesystem.Filesystem/RemoveWatcher", a.body))
	is(t, 404, b.call("filesystem.Filesystem/GetWatcherEvents", a.body))
}
