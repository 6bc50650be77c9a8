package image

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func goodManifest(t testing.TB) []byte {
	t.Helper()
	sum := strings.Repeat("ab", 32)
	m := Manifest{
		Schema: Schema, Profile: "base", Arch: "amd64", Rules: 1, Kernel: "6.1", Packages: []Package{{Name: "jq", Version: "1.6", Arch: "amd64"}},
		Files: []File{{KernelFile, 1, sum}, {"modules/00-virtio.ko", 2, sum}, {RootFile, 3, sum}},
	}
	m.Digest = m.ID()
	b, err := m.encode()
	require.NoError(t, err)
	return b
}

// The digest is a promise to every lock that names an image: these bytes must never change.
func TestDigestIsStable(t *testing.T) {
	m, err := decodeManifest(goodManifest(t))
	require.NoError(t, err)
	require.Equal(t, "sha256:6e5b4846a7a6b3af6bbf92739fa6f42cfcc17e221ba3c5fb6100a6eb4234638b", m.ID())
	m.Files[0], m.Files[2] = m.Files[2], m.Files[0]
	m.Packages, m.Kernel, m.Rules = nil, "7", 9
	require.Equal(t, m.Digest, m.ID(), "order and origin are no part of it")
	m.Profile = "tiny"
	require.NotEqual(t, m.Digest, m.ID())
}

func TestManifestRefuses(t *testing.T) {
	good := string(goodManifest(t))
	tests := []struct{ name, old, new string }{
		{"another schema", "joy.image/1", "joy.image/2"},
		{"another digest", `"digest": "sha256:`, `"digest": "sha256:0`},
		{"a changed file", `"size": 3`, `"size": 4`},
		{"a negative size", `"size": 3`, `"size": -3`},
		{"a path elsewhere", "modules/00-virtio.ko", "modules/../../../x.ko"},
		{"an absolute path", `"root.squashfs"`, `"/etc/shadow"`},
		{"a file twice", `"name": "root.squashfs"`, `"name": "kernel"`},
		{"no kernel", `"name": "kernel"`, `"name": "modules/00-a.ko"`},
		{"a bad profile", `"profile": "base"`, `"profile": "../base"`},
		{"an unknown key", `"rules"`, `"extra": 1, "rules"`},
		{"other white space", "\n  ", "\n "},
		{"more after it", "}\n", "}\n{}\n"},
		{"cut short", "]\n}\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, good, tt.old)
			_, err := decodeManifest([]byte(strings.Replace(good, tt.old, tt.new, 1)))
			require.Error(t, err)
		})
	}
}

// FuzzManifest holds that a manifest has one form: what is accepted is what would be written.
func FuzzManifest(f *testing.F) {
	f.Add(goodManifest(f))
	f.Add([]byte("{}"))
	f.Add(bytes.ReplaceAll(goodManifest(f), []byte(`"size"`), []byte(`"Size"`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeManifest(b)
		if err != nil {
			return
		}
		again, err := m.encode()
		require.NoError(t, err)
		require.Equal(t, b, again)
	})
}
