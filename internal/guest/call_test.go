//go:build linux

package guest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// door is a listener that gives every request the same answer and keeps what it was asked.
type door struct {
	net.Listener
	answer string
	asked  chan string
}

func newDoor(t *testing.T, answer string) *door {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d := &door{Listener: l, answer: answer, asked: make(chan string, 1)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.asked <- readRequest(conn)
			_, _ = io.WriteString(conn, answer)
			conn.Close()
		}
	}()
	return d
}

// readRequest reads one request, by the length it says it has.
func readRequest(conn net.Conn) string {
	r, length := bufio.NewReader(conn), 0
	var text strings.Builder
	for {
		line, err := r.ReadString('\n')
		text.WriteString(line)
		if _, found := strings.CutPrefix(line, "Content-Length"); found {
			_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
		}
		if err != nil || line == "\r\n" {
			break
		}
	}
	_, _ = io.CopyN(&text, r, int64(length))
	return text.String()
}

// joyGuest runs one command line in a step whose broker is at url.
func joyGuest(url, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	c := &caller{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs, getenv: func(key string) string {
		return map[string]string{"JOY_API_URL": url, "JOY_RUN_TOKEN": "joyrt_x"}[key]
	}}
	code = c.run(args)
	return code, out.String(), errs.String()
}

func (d *door) url() string { return "http://" + d.Addr().String() }

// ok is an answer of 200.
func ok(body string) string {
	return fmt.Sprintf("HTTP/1.0 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(body), body)
}

// What is wrong with a command line is said before anything is asked.
func TestCallMisused(t *testing.T) {
	dir := t.TempDir()
	list, broken := filepath.Join(dir, "list"), filepath.Join(dir, "broken")
	require.NoError(t, os.WriteFile(list, []byte("[1]"), 0o600))
	require.NoError(t, os.WriteFile(broken, []byte("a\xff"), 0o600))
	for line, want := range map[string]string{
		"":                             "usage: joy-guest",
		"frob":                         `no command "frob"`,
		"tools drive":                  `tools takes no "drive"`,
		"call":                         "which action",
		"call --raw":                   "which action",
		"call --json {} ":              "which action",
		"call a.b --frob":              `takes no "--frob"`,
		"call a.b --json":              "--json needs a value",
		"call a.b --json {} --json {}": "twice",
		"call a.b --json=":             "empty",
		"call a.b --json {":            "not a JSON object",
		"call a.b --json [1]":          "not a JSON object",
		"call a.b --json {}{}":         "not a JSON object",
		"call a.b --json -":            "not a JSON object",
		"call a.b --json @" + list:     "not a JSON object",
		"call a.b --json @/no/such":    "no such file",
		"call a.b --json @" + dir:      "is a directory",
		"call a.b --json {} k=v":       "not both",
		"call a.b k":                   `"k" is no argument`,
		"call a.b =v":                  "is no argument",
		"call a.b :=1":                 "is no argument",
		"call a.b k:={":                "not JSON",
		"call a.b k=1 k=2":             "twice",
		"call a.b k=@/no/such":         "no such file",
		"call a.b k=@" + broken:        "not text",
	} {
		code, stdout, stderr := joyGuest("http://127.0.0.1:1", "", strings.Fields(line)...)
		require.Equal(t, exitUsage, code, line)
		require.Empty(t, stdout, line)
		require.Contains(t, stderr, want, line)
	}
	code, _, stderr := joyGuest("", "", "tools")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "inside a step")
}

// Arguments reach the broker with the bytes they were given with.
func TestCallArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "note")
	require.NoError(t, os.WriteFile(file, []byte(`{"b":1,"a":"<é>"}`), 0o600))
	for line, want := range map[string]string{
		"call a.b": `{"action":"a.b","arguments":{}}`,
		`call a.b --json {"n":9007199254740993.0}`: `{"action":"a.b","arguments":{"n":9007199254740993.0}}`,
		`call --json={"z":1} a.b --raw`:            `{"action":"a.b","arguments":{"z":1}}`,
		"call a.b --json @" + file:                 `{"action":"a.b","arguments":{"b":1,"a":"<é>"}}`,
		"call a.b --json -":                        `{"action":"a.b","arguments":{"from":"stdin"}}`,
		"call a.b z=1 a:=1 n=":                     `{"action":"a.b","arguments":{"z":"1","a":1,"n":""}}`,
		"call a.b text=@" + file:                   `{"action":"a.b","arguments":{"text":"{\"b\":1,\"a\":\"\u003cé\u003e\"}"}}`,
		"call a.b eq=x=y":                          `{"action":"a.b","arguments":{"eq":"x=y"}}`,
	} {
		d := newDoor(t, ok("{}"))
		code, _, stderr := joyGuest(d.url(), `{"from":"stdin"}`, strings.Fields(line)...)
		require.Zero(t, code, "%s: %s", line, stderr)
		asked := <-d.asked
		head, body, _ := strings.Cut(asked, "\r\n\r\n")
		require.Equal(t, want, body, line)
		require.True(t, strings.HasPrefix(head, "POST /v1/call HTTP/1.0\r\nHost: "+d.Addr().String()+"\r\n"), head)
		require.Contains(t, head, "\r\nAuthorization: Bearer joyrt_x\r\n")
	}
}

func TestCallPrints(t *testing.T) {
	const image = `{"type":"image","data":"AA=="}`
	for name, tc := range map[string]struct {
		answer, flag   string
		code           int
		stdout, stderr string
	}{
		"structured":       {`{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":9007199254740993}}`, "", 0, `{"n":9007199254740993}` + "\n", ""},
		"text":             {`{"content":[{"type":"text","text":"one\n"},{"type":"text","text":"two"}]}`, "", 0, "one\ntwo\n", ""},
		"nothing":          {`{"content":[],"structuredContent":null}`, "", 0, "", ""},
		"an image":         {`{"content":[` + image + `]}`, "", 0, image + "\n", ""},
		"raw":              {`{"content":[],"x":1}`, "--raw", 0, `{"content":[],"x":1}` + "\n", ""},
		"failed":           {`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`, "", 1, "", "joy-guest: no such file\n"},
		"failed, silently": {`{"isError":true,"content":[]}`, "", 1, "", "joy-guest: the tool failed and does not say why\n"},
		"failed, raw":      {`{"isError":true}`, "--raw", 1, `{"isError":true}` + "\n", ""},
		"no result":        {`[]`, "", 6, "", "joy-guest: the broker's answer cannot be read\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, ok(tc.answer))
			code, stdout, stderr := joyGuest(d.url(), "", strings.Fields("call a.b "+tc.flag)...)
			require.Equal(t, tc.code, code)
			require.Equal(t, tc.stdout, stdout)
			require.Equal(t, tc.stderr, stderr)
		})
	}
}

func TestCallRefused(t *testing.T) {
	refusal := func(status, code string) string {
		return "HTTP/1.0 " + status + " X\r\n\r\n" + `{"error":{"code":"` + code + `","message":"so it is"}}`
	}
	for name, tc := range map[string]struct {
		answer string
		code   int
		stderr string
	}{
		"denied":          {refusal("403", "denied"), 5, "so it is"},
		"no token":        {refusal("401", "unauthorized"), 5, "so it is"},
		"approval":        {refusal("403", "approval_needed"), 4, "so it is"},
		"drift":           {refusal("409", "drift"), 3, "so it is"},
		"arguments":       {refusal("400", "input"), 2, "so it is"},
		"server":          {refusal("502", "connection"), 1, "so it is"},
		"nobody knows":    {refusal("504", "outcome_unknown"), 1, "so it is"},
		"no record":       {refusal("503", "unrecorded"), 6, "so it is"},
		"no words":        {"HTTP/1.1 500 X\r\n\r\nsorry", 6, "answered 500: sorry"},
		"nothing":         {"", 6, "no answer"},
		"half a head":     {"HTTP/1.0 200 OK\r\nContent-Le", 6, "no answer"},
		"no HTTP":         {"SSH-2.0-x\r\n\r\n", 6, "does not speak HTTP"},
		"an odd status":   {"HTTP/1.0 2x0 OK\r\n\r\n", 6, "does not speak HTTP"},
		"an odd length":   {"HTTP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n", 6, "no number"},
		"half a body":     {"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{}", 6, "cut short"},
		"an endless head": {"HTTP/1.0 200 OK\r\n" + strings.Repeat("A: b\r\n", maxAnswerHead/6), 6, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, tc.answer)
			code, stdout, stderr := joyGuest(d.url(), "", "call", "a.b")
			require.Equal(t, tc.code, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, tc.stderr)
			require.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
		})
	}
	code, _, stderr := joyGuest("http://127.0.0.1:1", "", "tools")
	require.Equal(t, exitUnreachable, code)
	require.Contains(t, stderr, "asking the broker")
}

func TestTools(t *testing.T) {
	const answer = `{"tools":[
		{"action":"drive.upload","calls_left":2,"fixed":{},"definition":{"description":"Uploads\n a file.","inputSchema":{"type":"object",
		 "required":["name"],"properties":{"name":{"type":"string","description":"its name"},"a":{"enum":["x","y"],"type":"string"},"m":{"type":["integer","null"]},"any":true}}}},
		{"action":"odd.one","calls_left":-1,"definition":{"description":7,"inputSchema":{"properties":[1]}}},
		{"action":"odd.two","calls_left":-1}]}`
	d := newDoor(t, ok(answer))
	code, stdout, stderr := joyGuest(d.url(), "", "tools")
	require.Zero(t, code, stderr)
	require.Equal(t, "drive.upload  (2 calls left)  Uploads a file.\n"+
		"    name (string, required)  its name\n"+
		"    a (x|y)\n"+
		"    m (integer|null)\n"+
		"    any (any)\n"+
		"odd.one\nodd.two\n", stdout)
	require.True(t, strings.HasPrefix(<-d.asked, "GET /v1/tools HTTP/1.0\r\n"))

	_, stdout, _ = joyGuest(d.url(), "", "tools", "--json")
	require.Equal(t, answer+"\n", stdout)

	code, stdout, stderr = joyGuest(newDoor(t, ok(`{"tools":[]}`)).url(), "", "tools")
	require.Zero(t, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "grants this step no tools")
	code, _, _ = joyGuest(newDoor(t, ok(`{"tools":3}`)).url(), "", "tools")
	require.Equal(t, exitUnreachable, code)
}

func TestHelp(t *testing.T) {
	code, stdout, stderr := joyGuest("", "", "--help")
	require.Zero(t, code)
	require.Equal(t, usage, stdout)
	require.Empty(t, stderr)
}
