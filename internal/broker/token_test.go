package broker

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewTokenNeedsRandomness(t *testing.T) {
	for name, bits := range map[string]string{"none": "", "one byte too few": strings.Repeat("r", tokenBytes-1)} {
		t.Run(name, func(t *testing.T) {
			token, err := newToken(strings.NewReader(bits))
			require.ErrorContains(t, err, "minting a run token")
			require.Empty(t, token)
		})
	}
}

// Whoever changes one character has something that is no token, whatever the character.
func TestWellFormedRefusesNeighbours(t *testing.T) {
	token, err := newToken(rand.Reader)
	require.NoError(t, err)
	for i := range token {
		for _, c := range []byte("aZ9-_ \x00\xff") {
			if token[i] != c {
				near := token[:i] + string(c) + token[i+1:]
				require.False(t, wellFormed(near[:len(token)]), "%q", near)
			}
		}
		require.False(t, wellFormed(token[:i]), "the first %d characters", i)
	}
	for name, other := range map[string]string{
		"more":         token + "A",
		"twice":        token + token,
		"padded":       token + "=",
		"upper prefix": "JOYRT_" + token[6:],
		"space":        " " + token,
	} {
		require.False(t, wellFormed(other), name)
	}
}

func TestNewToken(t *testing.T) {
	raw := bytes.Repeat([]byte{0xa5, 0x00}, tokenBytes/2)
	token, err := newToken(bytes.NewReader(raw))
	require.NoError(t, err)
	require.True(t, wellFormed(token))
	require.Len(t, token, 6+43+6)
	body, ok := strings.CutPrefix(token, "joyrt_")
	require.True(t, ok)
	carried, err := base64.RawURLEncoding.DecodeString(body[:43])
	require.NoError(t, err)
	require.Equal(t, raw, carried, "all random bits are in the token")

	seen := map[string]bool{}
	for range 1000 {
		token, err := newToken(rand.Reader)
		require.NoError(t, err)
		require.False(t, seen[token])
		seen[token] = true
	}
}
