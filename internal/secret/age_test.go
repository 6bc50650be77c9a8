package secret

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// sshFile writes an SSH key, with a passphrase unless that is "", and a file encrypted for it.
func (u *user) sshFile(keyName, passphrase string) (path string) {
	u.t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(u.t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	require.NoError(u.t, err)
	u.write(keyName, string(pem.EncodeToMemory(block)), 0o600)
	id, err := agessh.NewEd25519Identity(private)
	require.NoError(u.t, err)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, id.Recipient())
	require.NoError(u.t, err)
	_, err = w.Write([]byte("it=" + canary + "\n"))
	require.NoError(u.t, err)
	require.NoError(u.t, w.Close())
	return u.write("for-ssh.age", out.String(), 0o644)
}

func TestAnSSHKeyOpensAnAgeFile(t *testing.T) {
	u := newUser(t)
	u.know("age:" + u.sshFile(".ssh/id_ed25519", "") + "#it")
	v, err := u.resolver().Resolve(t.Context(), "it", u.at)
	require.NoError(t, err)
	require.Equal(t, canary, string(v.Bytes()))

	u = newUser(t)
	u.know("age:" + u.sshFile(".ssh/id_ed25519", "a passphrase") + "#it")
	_, err = u.resolver().Resolve(t.Context(), "it", u.at)
	require.ErrorContains(t, err, "there is no age identity", "joy asks for no passphrase")
}

// Identities that the user names are those that are used, and one that cannot be is an error.
func TestNamedIdentities(t *testing.T) {
	u := newUser(t)
	path := u.sshFile("keys/mine", "")
	u.know("age:" + path + "#it")
	_, err := u.resolver().Resolve(t.Context(), "it", u.at)
	require.ErrorContains(t, err, "there is no age identity")
	name := func(identity string) {
		s, err := OpenStore(u.home)
		require.NoError(t, err)
		s.Identities = []string{identity}
		require.NoError(t, s.write())
	}
	name(filepath.Join(u.home, "keys", "mine"))
	v, err := u.resolver().Resolve(t.Context(), "it", u.at)
	require.NoError(t, err)
	require.Equal(t, canary, string(v.Bytes()))
	name(filepath.Join(u.home, "keys", "none"))
	_, err = u.resolver().Resolve(t.Context(), "it", u.at)
	require.ErrorContains(t, err, "no such file")
	name(u.write("keys/broken", "-----BEGIN OPENSSH PRIVATE KEY-----\n"+canary+"\n", 0o600))
	_, err = u.resolver().Resolve(t.Context(), "it", u.at)
	require.ErrorContains(t, err, "no SSH key that joy can use")
	require.NotContains(t, err.Error(), canary)
}
