package secret

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseRef(t *testing.T) {
	for _, bad := range []string{
		"", "hunter2-hunter2", "env:", "env:A B", "env:1A", "file:", "file:relative", "file:~/x", "file:../x",
		"keyring:", "keyring:joy", "keyring:/x", "keyring:joy/", "age:x#k", "age:/x#", "age:#k",
		"cmd:", "cmd:vault read", "cmd:[]", `cmd:[""]`, `cmd:["./get"]`, `cmd:["bin/get"]`, `cmd:["../get"]`, `cmd:"vault"`, `cmd:[1]`,
		"op:", "op://vault", "op://vault/item", "op:vault/item/field", "http://a.com", "secret:x", "env:A\x00",
	} {
		_, err := ParseRef(bad)
		require.Error(t, err, bad)
		if len(bad) > 8 {
			require.NotContains(t, err.Error(), bad[4:], "it may be the value itself")
		}
	}
	for _, good := range []string{
		"env:TOKEN", "file:/run/secrets/x", "keyring:joy/sales", "keyring:a/b/c", "age:/home/u/s.age#sales", "age:/home/u/s.age",
		`cmd:["vault","kv","get","-field=a b","secret/joy"]`, `cmd:["/usr/bin/pass","x"]`, "op://vault/item/field", "op://v/i/section/field",
	} {
		r, err := ParseRef(good)
		require.NoError(t, err, good)
		require.Equal(t, good, r.String())
	}
}

// FuzzParseRef holds that what is read and written back is the same reference.
func FuzzParseRef(f *testing.F) {
	for _, seed := range []string{"env:A", "file:/x", "keyring:a/b", "age:/x#y", `cmd:["a"]`, "op://a/b/c", "x:", ":"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRef(text)
		if err != nil {
			return
		}
		again, err := ParseRef(r.String())
		require.NoError(t, err, r.String())
		require.Equal(t, r, again)
	})
}
