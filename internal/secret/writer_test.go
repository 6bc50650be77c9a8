package secret_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

// stream writes text in chunks of n bytes.
func stream(t *testing.T, s *secret.Set, text string, n int) (string, []secret.Hit) {
	t.Helper()
	var out bytes.Buffer
	var hits []secret.Hit
	w := s.Writer(&out, func(h secret.Hit) { hits = append(hits, h) })
	for b := []byte(text); len(b) > 0; b = b[min(n, len(b)):] {
		wrote, err := w.Write(b[:min(n, len(b))])
		require.NoError(t, err)
		require.Equal(t, min(n, len(b)), wrote)
	}
	require.NoError(t, w.Close())
	return out.String(), hits
}

func TestHoweverTheStreamIsCut(t *testing.T) {
	s := set(t, "a", "hunter2hunter2", "b", "hunter2hunter2-and-more", "c", "aaaaaaaa", "d", nasty, "e", "more-of-the-same")
	text := "x hunter2hunter2 y hunter2hunter2-and-mor z hunter2hunter2-and-more-of-the-same\n" +
		strings.Repeat("a", 50) + "hunter2hunter2" + nasty + "aHVudGVyMmh1bnRlcjI= hunter2hunter" + utf16Bytes(nasty, true) +
		"\x00\x00aaaaaaa b 68756e74657232 hunter2hunter2-and-mo"
	want, hits := stream(t, s, text, len(text))
	require.NotContains(t, want, "hunter2hunter2")
	require.Contains(t, want, "[REDACTED:b][REDACTED:e]\n", "overlaps are covered whole")
	for n := 1; n < len(text); n++ {
		got, gotHits := stream(t, s, text, n)
		require.Equal(t, want, got, "chunks of %d", n)
		require.Equal(t, hits, gotHits, "chunks of %d", n)
	}
}

// P25: half a value, a pause, the other half. What cannot be its beginning is not held back.
func TestHeldBackOnlyWhileItMayBeASecret(t *testing.T) {
	var out bytes.Buffer
	w := set(t, "token", "joyrt_0123456789").Writer(&out, nil)
	for _, c := range []struct{ write, seen string }{
		{"building 10%\r", "building 10%\r"},
		{"x joyrt_01", "x "},
		{"23", ""},
		{"4X", "joyrt_01234X"},
		{"joyrt_012345678", ""},
		{"9", "[REDACTED:token]"},
		{"joyrt_", ""},
	} {
		out.Reset()
		_, err := w.Write([]byte(c.write))
		require.NoError(t, err)
		require.Equal(t, c.seen, out.String(), "after %q", c.write)
	}
	out.Reset()
	require.NoError(t, w.Close())
	require.Equal(t, "joyrt_", out.String())
}

func TestATokenIsKnownToWritersThatExist(t *testing.T) {
	var out bytes.Buffer
	s := secret.NewSet()
	w := s.Writer(&out, nil)
	_, err := w.Write([]byte("start "))
	require.NoError(t, err)
	require.NoError(t, s.Add("token", []byte("joyrt_0123456789")))
	_, err = w.Write([]byte("joyrt_0123456789 end"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Equal(t, "start [REDACTED:token] end", out.String())
}

func TestAddWhileWriting(t *testing.T) {
	s := set(t, "a", "hunter2hunter2")
	done := make(chan error)
	go func() {
		for i := range 50 {
			if err := s.Add("t", append([]byte("joyrt_0123456789"), byte('A'+i))); err != nil {
				done <- err
			}
		}
		close(done)
	}()
	for range 200 {
		require.Equal(t, "x[REDACTED:a]x", redact(s, "xhunter2hunter2x"))
	}
	require.NoError(t, <-done)
	require.Equal(t, "[REDACTED:t]", redact(s, "joyrt_0123456789Z"))
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestErrorOfTheWriterBelowStays(t *testing.T) {
	full := errors.New("no space left")
	w := set(t, "a", "hunter2hunter2").Writer(broken{full}, nil)
	_, err := w.Write([]byte("hunter2"))
	require.NoError(t, err, "nothing is written yet")
	_, err = w.Write([]byte("x"))
	require.ErrorIs(t, err, full)
	_, err = w.Write([]byte("y"))
	require.ErrorIs(t, err, full)
	require.ErrorIs(t, w.Close(), full)
}

// However values and text are cut, the outcome is that of one piece, and no value is in it.
func FuzzWriter(f *testing.F) {
	f.Add("hunter2hunter2", "2hunter2hu", "xhunter2hunter2hunter2hunterx", 3)
	f.Add("aaaaaaaa", "aaaabaaaa", "aaaaaaaaabaaaaaaaa", 1)
	f.Add(nasty, `w0rd/<"it`, nasty+nasty, 7)
	f.Add("12345678\n1234567890123456", "\xff\xfe\xff\xfe\xff\xfe\xff\xfe", "\xff\xfe1234567890123456", 5)
	f.Fuzz(func(t *testing.T, a, b, text string, n int) {
		s := secret.NewSet()
		okA, okB := s.Add("a", []byte(a)) == nil, s.Add("b", []byte(b)) == nil
		text += a + text + b + a
		whole, hits := s.Redact([]byte(text))
		got, gotHits := stream(t, s, text, 1+n&31)
		require.Equal(t, string(whole), got)
		require.Equal(t, hits, gotHits)
		for _, h := range hits {
			require.LessOrEqual(t, h.Offset+int64(h.Len), int64(len(text)))
		}
		if okA || okB {
			require.NotEmpty(t, hits)
		}
	})
}
