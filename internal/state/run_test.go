package state

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

func TestNewID(t *testing.T) {
	berlin := time.FixedZone("Berlin", 7200)
	id, err := NewID(time.Date(2026, 3, 1, 1, 2, 3, 999, berlin), bytes.NewReader([]byte{0, 0, 0, 0}))
	require.NoError(t, err)
	require.Equal(t, "20260228-230203-222222", id)

	_, err = NewID(time.Now(), bytes.NewReader([]byte{1}))
	require.ErrorContains(t, err, "read random bits")

	seen := map[string]bool{}
	for range 1000 {
		id, err := NewID(time.Now(), rand.Reader)
		require.NoError(t, err)
		require.True(t, ValidID(id), id)
		seen[id[len(id)-6:]] = true
	}
	require.Greater(t, len(seen), 990)
}

// What is called the latest run is that, though it began in the second of the one before.
func TestIDsSortAsRunsBegin(t *testing.T) {
	second := time.Date(2026, 3, 1, 1, 2, 3, 0, time.UTC)
	before := ""
	for _, after := range []time.Duration{0, 1, 2, 3, 31, 32, 33, 200, 500, 512, 998, 999, 1000} {
		id, err := NewID(second.Add(after*time.Millisecond), rand.Reader)
		require.NoError(t, err)
		require.True(t, ValidID(id), id)
		require.Greater(t, id, before, after)
		before = id
	}
	last, err := NewID(second.Add(time.Second-1), bytes.NewReader([]byte{255, 255, 255, 255}))
	require.NoError(t, err)
	require.Equal(t, "20260301-010203-zzzzzz", last)
	require.Less(t, last, before)
}

func TestNewRunRefuses(t *testing.T) {
	d, err := Open(t.TempDir(), "")
	require.NoError(t, err)
	for _, id := range []string{"", "latest", "../x", "20260101-000000-AAAAAA", "20260101-000000-aaaaaa\n", "20260101-000000-aaaaaaa"} {
		_, err := d.NewRun(id)
		require.Equal(t, fault.Input, fault.KindOf(err), id)
	}
	run, err := d.NewRun("20260101-000000-aaaaaa")
	require.NoError(t, err)
	require.DirExists(t, run.Dir)
	_, err = d.NewRun("20260101-000000-aaaaaa")
	require.ErrorIs(t, err, fs.ErrExist)
}

func TestResolve(t *testing.T) {
	d, err := Open(t.TempDir(), "")
	require.NoError(t, err)
	_, err = d.Resolve(Latest)
	require.ErrorContains(t, err, "no run has been recorded here")

	ids := []string{"20260102-000000-bbbbbb", "20260101-120000-aaaaaa", "20260101-000000-cccccc"} // newest first
	for _, id := range []string{ids[1], ids[2], ids[0]} {
		_, err := d.NewRun(id)
		require.NoError(t, err)
	}
	require.NoError(t, os.Mkdir(filepath.Join(d.RunsDir(), "zzz"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(d.RunsDir(), "20270101-000000-aaaaaa"), nil, 0o600))
	if err := os.Symlink(t.TempDir(), filepath.Join(d.RunsDir(), "20280101-000000-aaaaaa")); err != nil {
		require.ErrorIs(t, err, errors.ErrUnsupported)
	}

	runs, err := d.Runs()
	require.NoError(t, err)
	require.Len(t, runs, 3)
	for i, run := range runs {
		require.Equal(t, ids[i], run.ID)
	}

	for ref, want := range map[string]string{
		"": ids[0], "latest": ids[0], ids[2]: ids[2], "20260102": ids[0], "20260101-12": ids[1], "cccccc": ids[2],
	} {
		run, err := d.Resolve(ref)
		require.NoError(t, err, ref)
		require.Equal(t, want, run.ID, ref)
	}
	for ref, want := range map[string]string{
		"2026": "is 3 runs", "20260101": "is 2 runs", "zzz": "no run", "20280101": "no run", "../runs/" + ids[0]: "no run",
	} {
		_, err := d.Resolve(ref)
		require.ErrorContains(t, err, want, ref)
		require.Equal(t, fault.Input, fault.KindOf(err))
	}
}
