package witness

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

var said = Statement{Schema: "joy.witness/1", At: "end", Run: "r", Entries: 15, Head: "sha256:ab"}

func TestWhatIsNoWitness(t *testing.T) {
	for _, text := range []string{"", "  ", "http://witness.example/", "ftp://x", "https://", "https://\x00"} {
		_, err := Parse(text, t.TempDir(), nil)
		require.Equal(t, fault.Input, fault.KindOf(err), text)
	}
}

func TestURL(t *testing.T) {
	var got Statement
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			body, _ := io.ReadAll(r.Body)
			_ = json.Unmarshal(body, &got)
			_, _ = w.Write([]byte("noted \xff"))
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/long":
			_, _ = w.Write(make([]byte, MaxAnswer+1))
		case "/away":
			http.Redirect(w, r, "/good", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	tell := func(path string) (string, *Witness, error) {
		client := server.Client()
		standard, err := Parse(server.URL, "", nil)
		require.NoError(t, err)
		client.CheckRedirect = standard.client.CheckRedirect
		w, err := Parse(strings.Replace(server.URL, "https://", "https://me:secret@", 1)+path+"?key=secret", "", client)
		require.NoError(t, err)
		answer, err := w.Tell(t.Context(), said)
		return answer, w, err
	}
	answer, w, err := tell("/good")
	require.NoError(t, err)
	require.Equal(t, "noted \uFFFD", answer)
	require.Equal(t, said, got)
	require.Equal(t, server.URL+"/good", w.Name())

	for path, want := range map[string]string{"/busy": "503", "/long": "more than 64 KiB", "/away": "does not follow"} {
		_, _, err := tell(path)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
		require.Equal(t, fault.Platform, fault.KindOf(err))
	}
	server.Close()
	_, _, err = tell("/good")
	require.ErrorContains(t, err, "tell the witness "+server.URL+"/good")
	require.NotContains(t, err.Error(), "secret")
}

func TestProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are a shell's")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/note", []byte("#!/bin/sh\nread -r line; echo \"$1: $line\"\n"), 0o700))
	w, err := Parse("./note kept; echo", dir, nil)
	require.NoError(t, err)
	require.Equal(t, "note", w.Name())
	answer, err := w.Tell(t.Context(), said)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(answer, `kept;: {"schema":"joy.witness/1","at":"end","run":"r",`), "no shell: %s", answer)

	for text, want := range map[string]string{
		"false": "exit status 1", "no-such-program-here": "not found", "./gone": "no such file", "yes": "more than 64 KiB",
	} {
		w, err := Parse(text, dir, nil)
		require.NoError(t, err)
		_, err = w.Tell(t.Context(), said)
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.Platform, fault.KindOf(err))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	w, err = Parse("sleep 60", dir, nil)
	require.NoError(t, err)
	_, err = w.Tell(gone, said)
	require.Error(t, err)
}
