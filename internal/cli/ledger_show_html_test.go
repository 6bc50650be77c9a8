package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestPageOfARun(t *testing.T) {
	a, out, stderr := testApp(t)
	at := func(name string) string { return filepath.Join(a.dir, name) }
	whole := vector(t, "sealed.jsonl")
	require.NoError(t, os.Mkdir(at("copy"), 0o700))
	require.NoError(t, os.WriteFile(at("l.jsonl"), whole, 0o600))
	require.NoError(t, os.WriteFile(at("seal.note"), vector(t, "sealed.note"), 0o600))
	require.NoError(t, os.WriteFile(at("edited.jsonl"), bytes.Replace(whole, []byte("slack.post"), []byte("slack.read"), 1), 0o600))
	require.NoError(t, os.WriteFile(at("copy/cut.jsonl"), whole[:len(whole)/2], 0o600))
	require.NoError(t, os.WriteFile(at("empty.jsonl"), nil, 0o600))
	require.NoError(t, os.WriteFile(at("there.html"), []byte("old"), 0o644))
	require.NoError(t, os.Mkdir(at("dir"), 0o700))
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink("there.html", at("link")))
	} else {
		require.NoError(t, os.Mkdir(at("link"), 0o700))
	}
	for _, c := range []struct {
		args string
		code int
		out  string // on stdout
		said string // on stderr
		page string // in the file run.html, which must not be there without it
	}{
		{"l.jsonl --html", 0, "self-signed by", "", ""},
		{"l.jsonl --html -o -", 0, "<!doctype html>", "", ""},
		{"l.jsonl --html -o run.html", 0, "run.html ", "", "complete, sealed"},
		{"edited.jsonl --html -o run.html", 7, "run.html ", "the ledger is broken", "broken at line"},
		{"copy/cut.jsonl --html -o run.html", 0, "run.html ", "the ledger is incomplete", "is torn"},
		{"empty.jsonl --html -o run.html", 7, "", "the ledger is incomplete", ""},
		{"l.jsonl --html -o dir", 2, "", "is not replaced", ""},
		{"l.jsonl --html -o link", 2, "", "is not replaced", ""},
		{"l.jsonl --html -o none/run.html", 2, "", "run.html", ""},
		{"l.jsonl -o run.html", 2, "", "-o is the file of --html", ""},
		{"l.jsonl --html --json", 2, "", "choose one", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			out.Reset()
			stderr.Reset()
			err := a.execute(t.Context(), append([]string{"ledger", "show"}, strings.Fields(c.args)...))
			code := exitCode(err)
			if err != nil {
				a.report(err)
			}
			a.json = false
			require.Equal(t, c.code, code, stderr.String())
			require.Contains(t, out.String(), c.out)
			require.Contains(t, stderr.String()+out.String(), c.said)
			b, err := os.ReadFile(at("run.html"))
			if c.page == "" {
				require.ErrorIs(t, err, fs.ErrNotExist)
				return
			}
			require.NoError(t, err)
			require.Equal(t, 1, min(strings.Count(string(b), c.page), 1), "no %q", c.page) // it is long to print
			info, err := os.Stat(at("run.html"))
			require.NoError(t, err)
			if runtime.GOOS != "windows" {
				require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
			}
			require.NoError(t, os.Remove(at("run.html")))
		})
	}
	old, err := os.ReadFile(at("there.html"))
	require.NoError(t, err)
	require.Equal(t, "old", string(old), "a link was followed")
	left, err := filepath.Glob(at(".*"))
	require.NoError(t, err)
	require.Empty(t, left, "something was left behind")
}

func TestNoPageOnATerminal(t *testing.T) {
	a, _, _ := testApp(t)
	a.setColor("never")
	a.out.tty = true
	o := showOptions{html: true}
	require.ErrorContains(t, o.checkPage(&cobra.Command{}, a), "-o run.html")
	o.out = "-"
	require.NoError(t, o.checkPage(&cobra.Command{}, a))
}
