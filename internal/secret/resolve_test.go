package secret

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/stretchr/testify/require"
	"github.com/zalando/go-keyring"

	"github.com/joystream-ai/joy/internal/fault"
)

const canary = "canary-5f1c9a7e-do-not-show"

// user is a user's home, with the list of secrets that the test writes.
type user struct {
	t    *testing.T
	home string
	env  map[string]string
	set  *Set
	at   Origin
}

func newUser(t *testing.T) *user {
	t.Helper()
	at, err := OriginOfURL("https://mcp.example.com")
	require.NoError(t, err)
	return &user{t, t.TempDir(), map[string]string{"PATH": "/usr/bin:/bin"}, NewSet(), at}
}

func (u *user) resolver() *Resolver {
	return NewResolver(ResolverConfig{
		ConfigDir: u.home, Home: u.home, Set: u.set,
		LookupEnv: func(k string) (string, bool) { v, ok := u.env[k]; return v, ok },
	})
}

func (u *user) write(name, text string, mode os.FileMode) string {
	u.t.Helper()
	path := filepath.Join(u.home, name)
	require.NoError(u.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(u.t, os.WriteFile(path, []byte(text), mode))
	return path
}

func (u *user) know(text string) {
	u.t.Helper()
	ref, err := ParseRef(text)
	require.NoError(u.t, err)
	s, err := OpenStore(u.home)
	require.NoError(u.t, err)
	require.NoError(u.t, s.Put(Entry{Name: "it", Ref: ref, Origin: u.at}))
}

func (u *user) encrypt(name, text string, armored bool) string {
	u.t.Helper()
	id, err := ownIdentity(u.home)
	require.NoError(u.t, err)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, id.Recipient())
	require.NoError(u.t, err)
	_, err = w.Write([]byte(text))
	require.NoError(u.t, errors.Join(err, w.Close()))
	if armored {
		var a bytes.Buffer
		w := armor.NewWriter(&a)
		_, err = w.Write(out.Bytes())
		require.NoError(u.t, errors.Join(err, w.Close()))
		out = a
	}
	return u.write(name, out.String(), 0o644)
}

// Each kind of reference gives the value, is known to the scrubber by then, and nothing that can be printed shows it.
func TestEachKindOfReference(t *testing.T) {
	keyring.MockInit()
	for name, ref := range map[string]func(u *user) string{
		"env":  func(u *user) string { u.env["TOKEN"] = canary; return "env:TOKEN" },
		"file": func(u *user) string { return "file:" + u.write("token", canary+"\n", 0o600) },
		"keyring": func(*user) string {
			require.NoError(t, keyring.Set("crm", "token", canary))
			return "keyring:crm/token"
		},
		"age whole": func(u *user) string { return "age:" + u.encrypt("one.age", canary+"\n", false) },
		"age lines": func(u *user) string {
			return "age:" + u.encrypt("l.age", "# mine\n\nother=x\nit="+canary+"\r\n", true) + "#it"
		},
		"age JSON": func(u *user) string {
			return "age:" + u.encrypt("j.age", `{"other":"x","it":"`+canary+`"}`, false) + "#it"
		},
		"cmd":           func(u *user) string { return fmt.Sprintf(`cmd:["cat",%q]`, u.write("by-cmd", canary, 0o600)) },
		"cmd, absolute": func(u *user) string { return fmt.Sprintf(`cmd:["/bin/cat",%q]`, u.write("by-cmd", canary, 0o600)) },
		"op": func(u *user) string {
			op := u.write("bin/op", "#!/bin/sh\n[ \"$*\" = 'read --no-newline op://work/crm/token' ] && [ -n \"$OP_SERVICE_ACCOUNT_TOKEN\" ] && printf %s "+canary+"\n", 0o700)
			u.env["PATH"], u.env["OP_SERVICE_ACCOUNT_TOKEN"] = filepath.Dir(op)+":/bin", "x"
			return "op://work/crm/token"
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.know(ref(u))
			r := u.resolver()
			v, err := r.Resolve(t.Context(), "it", u.at)
			require.NoError(t, err)
			require.Equal(t, canary, string(v.Bytes()))
			require.NotContains(t, fmt.Sprintf("%v %+v %#v %s %x %q %v %+v", v, v, v, v, v, v, r, r.held), canary)
			shown, hits := u.set.Redact([]byte("it said " + canary))
			require.Len(t, hits, 1)
			require.Equal(t, "it said [REDACTED:it]", string(shown))

			list, err := os.ReadFile(filepath.Join(u.home, FileName))
			require.NoError(t, err)
			require.NotContains(t, string(list), canary)
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	keyring.MockInitWithError(errors.New("no keyring here"))
	for name, c := range map[string]struct {
		ref  func(u *user) string
		want string
	}{
		"unset variable": {func(*user) string { return "env:NOTHING" }, "NOTHING is not set"},
		"missing file":   {func(u *user) string { return "file:" + u.home + "/none" }, "no such file"},
		"others' file":   {func(u *user) string { return "file:" + u.write("t", canary, 0o640) }, "others may read it"},
		"a directory":    {func(u *user) string { return "file:" + u.home }, "not an ordinary file"},
		"a large file":   {func(u *user) string { return "file:" + u.write("t", strings.Repeat(canary, 4000), 0o600) }, "larger than"},
		"an empty file":  {func(u *user) string { return "file:" + u.write("t", " \n", 0o600) }, "it is empty"},
		"a short value":  {func(u *user) string { return "file:" + u.write("t", "abc", 0o600) }, "shorter than"},
		"a NUL":          {func(u *user) string { return "file:" + u.write("t", canary+"\x00x", 0o600) }, "NUL"},
		"a link": {func(u *user) string {
			require.NoError(t, os.Symlink(u.write("t", canary, 0o600), filepath.Join(u.home, "l")))
			return "file:" + u.home + "/l"
		}, "is a link"},
		"no keyring":  {func(*user) string { return "keyring:joy/it" }, "no keyring here"},
		"no identity": {func(u *user) string { return "age:" + u.write("x.age", canary, 0o600) + "#it" }, "no age identity"},
		"not encrypted": {func(u *user) string {
			_, _ = ownIdentity(u.home)
			return "age:" + u.write("x.age", canary, 0o600) + "#it"
		}, "decrypt"},
		"no such key": {func(u *user) string { return "age:" + u.encrypt("x.age", "a="+canary, false) + "#it" }, "has no value it"},
		"no values":   {func(u *user) string { return "age:" + u.encrypt("x.age", canary, false) + "#it" }, "line 1 is not NAME=value"},
		"JSON of numbers": {func(u *user) string {
			return "age:" + u.encrypt("x.age", `{"it": 3, "b": "`+canary+`"}`, false) + "#it"
		}, "no JSON object of strings"},
		"no program":         {func(*user) string { return `cmd:["no-such-program"]` }, "not on PATH"},
		"fails":              {func(*user) string { return `cmd:["sh","-c","echo ` + canary + ` >&2; exit 3"]` }, "exit status 3"},
		"floods":             {func(*user) string { return `cmd:["sh","-c","yes ` + canary + `"]` }, "printed more than 64 KiB"},
		"prints nothing":     {func(*user) string { return `cmd:["true"]` }, "it is empty"},
		"reads joy's stdin":  {func(*user) string { return `cmd:["cat"]` }, "it is empty"},
		"the environment":    {func(u *user) string { u.env["OTHER"] = canary; return `cmd:["sh","-c","echo $OTHER"]` }, "it is empty"},
		"a relative PATH":    {func(u *user) string { u.env["PATH"] = ".:bin"; return `cmd:["cat"]` }, "not on PATH"},
		"op is not there":    {func(*user) string { return "op://work/crm/token" }, "op is not on PATH"},
		"a list of strings":  {func(u *user) string { return "age:" + u.encrypt("x.age", `{"it": ["`+canary+`"]}`, false) + "#it" }, "no JSON object"},
		"a corrupt identity": {func(u *user) string { u.write("age.key", "AGE-SECRET-KEY-1"+canary, 0o600); return "age:/x#it" }, "no age identity"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.know(c.ref(u))
			_, err := u.resolver().Resolve(t.Context(), "it", u.at)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.Consent, fault.KindOf(err))
			if !strings.HasPrefix(name, "fails") && name != "floods" { // there the reference itself says it, in the test alone
				require.NotContains(t, err.Error(), canary)
			}
		})
	}
}

func TestResolveByOrigin(t *testing.T) {
	u := newUser(t)
	u.env["TOKEN"] = canary
	u.know("env:TOKEN")
	evil, err := OriginOfURL("https://evil.example")
	require.NoError(t, err)
	for _, origin := range []Origin{{}, evil, OriginOfCommand("/p", []string{"mcp.example.com"})} {
		r := u.resolver()
		_, err := r.Resolve(t.Context(), "it", origin)
		require.ErrorContains(t, err, "goes nowhere else")
		require.Equal(t, fault.Policy, fault.KindOf(err))
		_, err = r.Resolve(t.Context(), "it", u.at)
		require.NoError(t, err)
		_, err = r.Resolve(t.Context(), "it", origin)
		require.Equal(t, fault.Policy, fault.KindOf(err), "also when it is held already")
	}
	_, err = u.resolver().Resolve(t.Context(), "other", u.at)
	require.ErrorContains(t, err, "joy does not know it")
	require.Equal(t, fault.Consent, fault.KindOf(err))
	_, err = u.resolver().Resolve(t.Context(), "a b", u.at)
	require.Equal(t, fault.Input, fault.KindOf(err))
}

// A value is read once and held; the variable comes before the list, which is then not read at all.
func TestResolveHolds(t *testing.T) {
	u := newUser(t)
	path := u.write("token", canary, 0o600)
	u.know("file:" + path)
	r := u.resolver()
	_, err := r.Resolve(t.Context(), "it", u.at)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	v, err := r.Resolve(t.Context(), "it", u.at)
	require.NoError(t, err)
	require.Equal(t, canary, string(v.Bytes()))

	u.env["JOY_SECRET_IT_TOO"] = canary + "-2"
	u.write(FileName, "not: a list", 0o600)
	v, err = u.resolver().Resolve(t.Context(), "it-too", u.at)
	require.NoError(t, err)
	require.Equal(t, canary+"-2", string(v.Bytes()))
	_, err = u.resolver().Resolve(t.Context(), "it", u.at)
	require.ErrorContains(t, err, "list of secrets")
}

func TestKeep(t *testing.T) {
	u := newUser(t)
	keyring.MockInitWithError(errors.New("no keyring here"))
	for _, bad := range []string{"", "short", strings.Repeat("x", maxValue+1), "\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"} {
		_, _, err := Keep(t.Context(), u.home, "it", NewValue([]byte(bad)))
		require.Equal(t, fault.Input, fault.KindOf(err))
	}
	require.NoFileExists(t, filepath.Join(u.home, ageFile))

	for _, name := range []string{"it", "second"} {
		ref, why, err := Keep(t.Context(), u.home, name, NewValue([]byte(canary+"\n")))
		require.NoError(t, err)
		require.ErrorContains(t, why, "no keyring here")
		require.Equal(t, "age:"+filepath.Join(u.home, ageFile)+"#"+name, ref.String())
		u.know(ref.String())
	}
	data, err := os.ReadFile(filepath.Join(u.home, ageFile))
	require.NoError(t, err)
	require.NotContains(t, string(data), canary)
	e := Entry{Name: "second", Ref: Ref{Kind: KindAge, Path: filepath.Join(u.home, ageFile), Name: "second"}}
	v, err := u.resolver().Resolve(t.Context(), "it", u.at)
	require.NoError(t, err)
	require.Equal(t, canary, string(v.Bytes()))
	left, err := Forget(t.Context(), u.home, e)
	require.NoError(t, err)
	require.False(t, left)
	_, err = u.resolver().Resolve(t.Context(), "it", u.at)
	require.ErrorContains(t, err, "has no value second")

	left, err = Forget(t.Context(), u.home, Entry{Name: "x", Ref: Ref{Kind: KindFile, Path: "/nowhere"}})
	require.NoError(t, err)
	require.True(t, left, "what joy did not put there stays")

	keyring.MockInit()
	ref, why, err := Keep(t.Context(), u.home, "it", NewValue([]byte(canary)))
	require.NoError(t, errors.Join(why, err))
	require.Equal(t, "keyring:joy/it", ref.String())
	_, err = Forget(t.Context(), u.home, Entry{Name: "it", Ref: ref})
	require.NoError(t, err)
	_, err = keyring.Get(Service, "it")
	require.ErrorIs(t, err, keyring.ErrNotFound)
}
