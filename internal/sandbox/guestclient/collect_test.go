package guestclient

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

func head(path string, size int64) guestproto.FileHeader {
	return guestproto.FileHeader{Path: []byte(path), Size: size}
}

func skipped(path, reason string) guestproto.FileHeader {
	return guestproto.FileHeader{Path: []byte(path), Reason: reason}
}

// one is a whole file as frames.
func one(path, content string) []any {
	return []any{guestproto.FrameFile, head(path, int64(len(content))), guestproto.FrameData, content, guestproto.FrameFileEnd, guestproto.Reply{}}
}

func all(lists ...[]any) []any {
	var out []any
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var end = []any{guestproto.FrameEnd, ""}

func take(_ sandbox.Found, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

func TestCollectFromABadGuest(t *testing.T) {
	file := func(h any) []any { return []any{guestproto.FrameFile, h} }
	for name, tc := range map[string]struct {
		frames []any
		want   string
	}{
		"closes":                {nil, "EOF"},
		"closes in a file":      {file(head("f", 3)), "EOF"},
		"closes after a file":   {one("f", "x"), "EOF"},
		"no header":             {file("["), "JSON"},
		"another frame":         {[]any{guestproto.FrameStdout, "x"}, "kind 3"},
		"data without a file":   {[]any{guestproto.FrameData, "x"}, "kind 8"},
		"another frame inside":  {all(file(head("f", 3)), []any{guestproto.FrameExit, "{}"}), "kind 5"},
		"end inside":            {all(file(head("f", 3)), end), "kind 11"},
		"a file in a file":      {all(file(head("f", 3)), file(head("g", 3))), "kind 7"},
		"larger than announced": {all(file(head("f", 3)), []any{guestproto.FrameData, "xxxx"}), "larger"},
		"smaller":               {all(file(head("f", 3)), []any{guestproto.FrameData, "x", guestproto.FrameFileEnd, "{}"}), "smaller"},
		"a bad end of a file":   {all(file(head("f", 0)), []any{guestproto.FrameFileEnd, "["}), "JSON"},
		"no path":               {one("", "x"), "path"},
		"an absolute path":      {one("/etc/passwd", "x"), "leaves"},
		"a path up":             {one("../x", "x"), "leaves"},
		"a path up inside":      {one("a/../../x", "x"), "leaves"},
		"a dot":                 {one("./x", "x"), "leaves"},
		"a slash at the end":    {one("a/", "x"), "leaves"},
		"a NUL":                 {one("a\x00b", "x"), "path"},
		"an endless path":       {one(strings.Repeat("a/", guestproto.MaxPath)+"b", "x"), "path"},
		"a file twice":          {all(one("f", "x"), one("f", "y")), "order"},
		"out of order":          {all(one("g", "x"), one("f", "y")), "order"},
		"a negative size":       {file(head("f", -1)), "caps"},
		"a file past the cap":   {file(head("f", 101)), "caps"},
		"a total past the cap":  {all(one("a", strings.Repeat("x", 100)), one("b", strings.Repeat("x", 100)), one("c", strings.Repeat("x", 51))), "caps"},
		"a size that overflows": {all(one("a", "x"), file(head("b", 1<<63-1))), "caps"},
		"a file too many":       {all(one("a", ""), one("b", ""), one("c", ""), one("d", "")), "caps"},
		"a file beside":         {file(guestproto.FileHeader{Path: []byte("f"), Size: 3, Beside: 1}), "where none can be"},
		"a reason of its own":   {[]any{guestproto.FrameSkip, skipped("a", "joy said so")}, "cannot be"},
		"a negative count":      {[]any{guestproto.FrameSkip, guestproto.FileHeader{Reason: "link", Count: -1}}, "cannot be"},
		"a count with a path":   {[]any{guestproto.FrameSkip, guestproto.FileHeader{Path: []byte("a"), Reason: "link", Count: 1}}, "cannot be"},
		"an endless skip":       {[]any{guestproto.FrameSkip, skipped(strings.Repeat("a", guestproto.MaxPath+1), "link")}, "cannot be"},
		"no word of a refusal":  {[]any{guestproto.FrameError, "["}, "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpCollect: frames(tc.frames...)})
			_, err := w.Collect(long(t), caps, take)
			lost(t, c, err, tc.want)
		})
	}
	t.Run("skips without end", func(t *testing.T) {
		_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpCollect: func(_ guestproto.Request, stream net.Conn) {
			f := guestproto.NewFrames(stream)
			for f.WriteJSON(guestproto.FrameSkip, skipped("a", "link")) == nil {
			}
		}})
		got, err := w.Collect(long(t), caps, take)
		lost(t, c, err, "more skipped files")
		require.Len(t, got.Skipped, len(guestproto.SkipReasons)*(guestproto.MaxNamed+1))
	})
	t.Run("a file without end, given up", func(t *testing.T) {
		_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpCollect: func(_ guestproto.Request, stream net.Conn) {
			f := guestproto.NewFrames(stream)
			if f.WriteJSON(guestproto.FrameFile, head("f", 1<<40)) != nil {
				return
			}
			for f.Write(guestproto.FrameData, make([]byte, 1000)) == nil {
			}
		}})
		_, err := w.Collect(short(t), policy.Artifacts{MaxFile: 1 << 40, MaxTotal: 1 << 40, MaxFiles: 1}, take)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, c.Err())
	})
	t.Run("silence, given up", func(t *testing.T) {
		_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpCollect: silent})
		_, err := w.Collect(short(t), caps, take)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, c.Err())
	})
}

func TestCollect(t *testing.T) {
	shrunk := []any{guestproto.FrameFile, head("b", 9), guestproto.FrameData, "x", guestproto.FrameFileEnd, guestproto.Reply{Error: "it shrank"}}
	_, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpCollect: frames(all(one("a/b", "x"), one("a.txt", "\xff"),
		shrunk, []any{guestproto.FrameSkip, skipped("\xfe\n", "link"), guestproto.FrameSkip, guestproto.FileHeader{Reason: "link", Count: 7}}, end)...)})

	t.Run("all", func(t *testing.T) {
		var got []string
		left, err := w.Collect(long(t), caps, func(f sandbox.Found, r io.Reader) error {
			b, err := io.ReadAll(r)
			if err == nil {
				got = append(got, f.Path+"="+string(b))
			}
			return err
		})
		require.NoError(t, err)
		require.Equal(t, []string{"a/b=x", "a.txt=\xff"}, got)
		require.Equal(t, []sandbox.Skip{{Path: "b", Reason: "unreadable", Size: 9}, {Path: "\xfe\n", Reason: "link"}, {Reason: "link", Count: 7}}, left.Skipped)
	})
	t.Run("the time is UTC", func(t *testing.T) {
		_, err := w.Collect(long(t), caps, func(f sandbox.Found, r io.Reader) error {
			require.Equal(t, time.UTC, f.ModTime.Location())
			return take(f, r)
		})
		require.NoError(t, err)
	})
	t.Run("a failure that is hidden is one all the same", func(t *testing.T) {
		left, err := w.Collect(long(t), caps, func(f sandbox.Found, r io.Reader) error { _ = take(f, r); return nil })
		require.NoError(t, err)
		require.Equal(t, "unreadable", left.Skipped[0].Reason)
	})
	t.Run("put fails", func(t *testing.T) {
		full := errors.New("the store is full")
		_, err := w.Collect(long(t), caps, func(sandbox.Found, io.Reader) error { return full })
		require.ErrorIs(t, err, full)
	})
	t.Run("put reads too little", func(t *testing.T) {
		_, err := w.Collect(long(t), caps, func(sandbox.Found, io.Reader) error { return nil })
		require.ErrorContains(t, err, "not read to its end")
	})
	require.NoError(t, c.Err())
}
