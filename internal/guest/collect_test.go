//go:build linux

package guest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
)

var wide = policy.Artifacts{MaxFile: 1 << 20, MaxTotal: 10 << 20, MaxFiles: 200}

// collected is what a collection sent, in words, in the order it came.
func collected(t *testing.T, workspace string, caps policy.Artifacts, while func(guestproto.Kind)) []string {
	t.Helper()
	var sent bytes.Buffer
	require.NoError(t, newCollector(guestproto.NewFrames(&meddler{&sent, while}), caps).walk(workspace))
	return words(t, &sent)
}

// meddler does something to the files when a frame is written.
type meddler struct {
	*bytes.Buffer
	while func(guestproto.Kind)
}

func (m *meddler) Write(b []byte) (int, error) {
	if m.while != nil {
		m.while(guestproto.Kind(b[0]))
	}
	return m.Buffer.Write(b)
}

func words(t *testing.T, sent *bytes.Buffer) []string {
	t.Helper()
	var list []string
	frames := guestproto.NewFrames(sent)
	for {
		kind, body, err := frames.Read()
		require.NoError(t, err)
		var head guestproto.FileHeader
		var reply guestproto.Reply
		switch kind {
		case guestproto.FrameFile:
			require.NoError(t, json.Unmarshal(body, &head))
			list = append(list, string(head.Path)+"=")
		case guestproto.FrameData:
			list[len(list)-1] += string(body)
		case guestproto.FrameFileEnd:
			require.NoError(t, json.Unmarshal(body, &reply))
			if reply.Error != "" {
				list = append(list, "! "+reply.Error)
			}
		case guestproto.FrameSkip:
			require.NoError(t, json.Unmarshal(body, &head))
			require.True(t, guestproto.SkipReasons[head.Reason], head.Reason)
			list = append(list, string(head.Path)+":"+head.Reason)
		case guestproto.FrameEnd:
			require.Zero(t, sent.Len())
			return list
		default:
			require.Fail(t, "unexpected frame", "%d", kind)
		}
	}
}

func newOut(t *testing.T) (workspace, out string) {
	t.Helper()
	workspace = t.TempDir()
	out = filepath.Join(workspace, "out")
	require.NoError(t, os.Mkdir(out, 0o755))
	return workspace, out
}

func TestCollectWhatChanges(t *testing.T) {
	t.Run("a file that shrinks", func(t *testing.T) {
		ws, out := newOut(t)
		f := filepath.Join(out, "f")
		require.NoError(t, os.WriteFile(f, bytes.Repeat([]byte("x"), 100_000), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(out, "g"), []byte("g"), 0o600))
		got := collected(t, ws, wide, func(kind guestproto.Kind) {
			if kind == guestproto.FrameData {
				require.NoError(t, os.Truncate(f, 10))
			}
		})
		require.Equal(t, []string{"f=" + strings.Repeat("x", guestproto.MaxChunk-5), "! the file shrank while it was read", "g=g"}, got)
	})
	t.Run("a file that grows", func(t *testing.T) {
		ws, out := newOut(t)
		f := filepath.Join(out, "f")
		require.NoError(t, os.WriteFile(f, []byte("abc"), 0o600))
		got := collected(t, ws, wide, func(guestproto.Kind) {
			require.NoError(t, os.WriteFile(f, []byte("abcdef"), 0o600))
		})
		require.Equal(t, []string{"f=abc"}, got)
	})
	t.Run("a directory that becomes a link", func(t *testing.T) {
		ws, out := newOut(t)
		secret := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(secret, "key"), []byte("secret"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(out, "a"), []byte("a"), 0o600))
		require.NoError(t, os.Mkdir(filepath.Join(out, "d"), 0o755))
		got := collected(t, ws, wide, func(kind guestproto.Kind) {
			if kind == guestproto.FrameFile {
				require.NoError(t, os.Remove(filepath.Join(out, "d")))
				require.NoError(t, os.Symlink(secret, filepath.Join(out, "d")))
			}
		})
		require.Equal(t, []string{"a=a", "d:link"}, got)
	})
	t.Run("a file that goes", func(t *testing.T) {
		ws, out := newOut(t)
		require.NoError(t, os.WriteFile(filepath.Join(out, "a"), []byte("a"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(out, "b"), []byte("b"), 0o600))
		got := collected(t, ws, wide, func(guestproto.Kind) { _ = os.Remove(filepath.Join(out, "b")) })
		require.Equal(t, []string{"a=a", "b:unreadable"}, got)
	})
}

// TestCollectBoundsNames: a directory of more names than are held is left, and what lies beside it is taken.
func TestCollectBoundsNames(t *testing.T) {
	ws, out := newOut(t)
	many := filepath.Join(out, "many")
	require.NoError(t, os.Mkdir(many, 0o755))
	one := filepath.Join(out, "one")
	require.NoError(t, os.WriteFile(one, []byte("1"), 0o600))
	long := strings.Repeat("n", 240)
	for i := range 2 * maxNames / 256 / 2 {
		require.NoError(t, os.Symlink("x", filepath.Join(many, fmt.Sprintf("%s%d", long, i))))
	}
	got := collected(t, ws, wide, nil)
	require.Equal(t, []string{"many:count", "one=1"}, got)
}
