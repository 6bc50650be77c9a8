package state

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeads(t *testing.T) {
	x := OpenIndex(filepath.Join(t.TempDir(), "joy"))
	_, err := x.Head(someRun)
	require.ErrorIs(t, err, fs.ErrNotExist)
	list, err := x.Heads("/p/.joy")
	require.NoError(t, err)
	require.Empty(t, list)
	require.NoError(t, x.RemoveHead(someRun), "what is not there is gone")
	require.Error(t, x.RemoveHead("../x"))
	require.Error(t, x.PutHead(Head{Run: "../x"}))
	_, err = x.Head("../" + someRun)
	require.ErrorIs(t, err, fs.ErrNotExist)

	begun := Head{Run: someRun, StateDir: "/p/.joy"}
	require.NoError(t, x.PutHead(begun))
	ended := Head{Run: someRun, StateDir: "/p/.joy", Entries: 15, Head: "sha256:ab"}
	require.NoError(t, x.PutHead(ended))
	elsewhere := Head{Run: "20260101-000001-aaaaaa", StateDir: "/q/.joy"}
	require.NoError(t, x.PutHead(elsewhere))
	got, err := x.Head(someRun)
	require.NoError(t, err)
	require.Equal(t, ended, got)
	list, err = x.Heads("/p/.joy")
	require.NoError(t, err)
	require.Equal(t, []Head{ended}, list)
	require.NoError(t, x.RemoveHead(elsewhere.Run))
	list, err = x.Heads("/q/.joy")
	require.NoError(t, err)
	require.Empty(t, list)
	lives, err := x.List()
	require.NoError(t, err)
	require.Empty(t, lives, "a head is no live run")
}

func TestHeadsThatCannotBeRead(t *testing.T) {
	x := OpenIndex(t.TempDir())
	require.NoError(t, x.PutHead(Head{Run: someRun, StateDir: "/p/.joy"}))
	for name, data := range map[string]string{
		"20260101-000001-aaaaaa.json": "{",
		"20260101-000002-aaaaaa.json": `{"run":"20260101-000000-aaaaaa"}`,
		"20260101-000003-aaaaaa.json": strings.Repeat(" ", maxLive+1),
		"notes.json":                  "not joy's",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(x.heads, name), []byte(data), 0o600))
	}
	list, err := x.Heads("/p/.joy")
	require.Len(t, list, 1)
	require.ErrorContains(t, err, "000001-aaaaaa.json")
	require.ErrorContains(t, err, "names the run 20260101-000000-aaaaaa")
	require.ErrorContains(t, err, "larger than 64 KiB")
}
