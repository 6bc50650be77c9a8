package secret

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func storeOf(t *testing.T, text string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600))
	_, err := OpenStore(dir)
	return dir, err
}

func TestStoreRefuses(t *testing.T) {
	const head = "version: 1\nsecrets:\n  a: "
	for text, want := range map[string]string{
		"version: 2\n":                     "version 2",
		"- a\n":                            "cannot unmarshal",
		"version: 1\nvalues: {a: b}\n":     "field values not found",
		"version: 1\nidentities: [x.key]":  "must be absolute",
		head + "{ref: 'env:A'}":            "it needs for: URL",
		head + "{ref: 'hunter2!'}":         "not a reference",
		head + "{ref: 'env:A', for: a.co}": "not the URL",
		head + "{ref: 'env:A', for: 'https://a.co', command: [x], project: /p}":    "it needs for: URL",
		head + "{ref: 'env:A', for: 'https://a.co', project: /p}":                  "it needs for: URL",
		head + "{ref: 'env:A', command: [x]}":                                      "it needs for: URL",
		head + "{ref: 'env:A', command: [x], project: p}":                          "it needs for: URL",
		head + "{ref: 'env:A', for: 'https://a.co', pass_env: [A=b]}":              "no name of a variable",
		head + "{ref: 'env:A', for: 'https://a.co', value: hunter2}":               "field value not found",
		"version: 1\nsecrets:\n  'a b': {ref: 'env:A', for: 'https://a.co'}\n":     "no name of a secret",
		"version: 1\nsecrets:\n  a: {ref: 'file:rel', for: 'https://a.co:443'}\n":  "not a reference",
		"version: 1\nsecrets:\n  a: {ref: 'env:A', for: 'https://a.co', for: b}\n": "already",
	} {
		_, err := storeOf(t, text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestStoreMustBeTheUsersAlone(t *testing.T) {
	dir, err := storeOf(t, "version: 1\n")
	require.NoError(t, err)
	file := filepath.Join(dir, FileName)
	require.NoError(t, os.Chmod(file, 0o644))
	_, err = OpenStore(dir)
	require.ErrorContains(t, err, "others may read it")

	other := filepath.Join(t.TempDir(), FileName)
	require.NoError(t, os.Symlink(file, other))
	_, err = OpenStore(filepath.Dir(other))
	require.ErrorContains(t, err, "is a link")
}

func TestStoreRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	s, err := OpenStore(dir)
	require.NoError(t, err, "a missing list is an empty one")
	url, err := OriginOfURL("https://mcp.example.com/drive")
	require.NoError(t, err)
	ref, err := ParseRef(`cmd:["vault","read"]`)
	require.NoError(t, err)
	require.NoError(t, s.Put(Entry{Name: "drive", Ref: ref, Origin: url, PassEnv: []string{"VAULT_ADDR"}}))
	require.NoError(t, s.Put(Entry{Name: "crm", Ref: Ref{Kind: KindEnv, Name: "CRM"}, Origin: OriginOfCommand("/p", []string{"npx", "crm"})}))

	again, err := OpenStore(dir)
	require.NoError(t, err)
	require.Equal(t, s.Entries, again.Entries)
	info, err := os.Stat(filepath.Join(dir, FileName))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, again.Remove("crm"))
	last, err := OpenStore(dir)
	require.NoError(t, err)
	require.Len(t, last.Entries, 1)
	_, found := last.Find("crm")
	require.False(t, found)
}
