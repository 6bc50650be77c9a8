package sim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

func file(path, body string) sandbox.File {
	return sandbox.File{Path: path, Size: int64(len(body)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(body)), nil
	}}
}

// forbidden is a file that a dry run must not open.
func forbidden(t *testing.T, path string) sandbox.File {
	return sandbox.File{Path: path, Size: 1, Open: func() (io.ReadCloser, error) {
		t.Error(path + " was opened")
		return nil, errors.New("opened")
	}}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sb, err := (&Provider{}).Create(ctx, sandbox.Spec{})
	require.NoError(t, err)
	w, err := sb.Open(ctx, sandbox.WorldSpec{ID: "a"})
	require.NoError(t, err)
	cancel()
	_, err = (&Provider{}).Create(ctx, sandbox.Spec{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = sb.Open(ctx, sandbox.WorldSpec{ID: "b"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = w.Run(ctx, sandbox.Command{Argv: []string{"x"}}, io.Discard, io.Discard)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAWorldIsOpenedOnce(t *testing.T) {
	sb, err := (&Provider{}).Create(t.Context(), sandbox.Spec{})
	require.NoError(t, err)
	_, err = sb.Open(t.Context(), sandbox.WorldSpec{ID: "a"})
	require.NoError(t, err)
	_, err = sb.Open(t.Context(), sandbox.WorldSpec{ID: "a"})
	require.ErrorContains(t, err, "the world of a exists")
}

func TestInputThatCannotBeRead(t *testing.T) {
	sb, err := (&Provider{}).Create(t.Context(), sandbox.Spec{})
	require.NoError(t, err)
	w, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: "a"})
	require.NoError(t, err)
	broken := errors.New("broken")
	for _, open := range []func() (io.ReadCloser, error){
		func() (io.ReadCloser, error) { return nil, broken },
		func() (io.ReadCloser, error) { return io.NopCloser(io.MultiReader(failing{broken})), nil },
	} {
		require.ErrorIs(t, w.Put(t.Context(), "in", []sandbox.File{{Path: "input.json", Open: open}}), broken)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// A dry run says what a step would find and does nothing: no file but the input is opened, nothing is printed, no id
// is given out to be destroyed.
func TestGiven(t *testing.T) {
	p := &Provider{}
	_, known := p.Given("a")
	require.False(t, known)
	require.Empty(t, p.Booted())
	sb, err := p.Create(t.Context(), sandbox.Spec{Image: "sha256:1", Started: func(string) error {
		t.Error("something was started")
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, "simulated", sb.Info().Isolation)
	require.Equal(t, "sha256:1", sb.Info().Image)
	w, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: "a", Env: map[string]string{"K": "v"}})
	require.NoError(t, err)
	require.NoError(t, w.Put(t.Context(), "skills/a", []sandbox.File{forbidden(t, "main.sh")}))
	require.NoError(t, w.Put(t.Context(), "in", []sandbox.File{file("input.json", `{"n":1}`), forbidden(t, "big.csv")}))
	var stdout, stderr bytes.Buffer
	res, err := w.Run(t.Context(), sandbox.Command{Argv: []string{"bash", "main.sh"}}, &stdout, &stderr)
	require.NoError(t, err)
	require.Equal(t, sandbox.Result{Symbolic: true}, res)
	require.Zero(t, stdout.Len()+stderr.Len())
	got, err := w.Collect(t.Context(), policy.Default().Artifacts, func(sandbox.Found, io.Reader) error {
		return errors.New("there is nothing to collect")
	})
	require.NoError(t, err)
	require.Empty(t, got.Skipped)
	require.NoError(t, errors.Join(w.Close(t.Context()), w.Close(t.Context()), sb.Destroy(t.Context()), sb.Destroy(t.Context())))
	require.NoError(t, sb.Err())
	select {
	case <-sb.Lost():
		t.Error("a VM that is not there cannot be lost")
	default:
	}
	g, known := p.Given("a")
	require.True(t, known)
	require.Equal(t, Given{
		Env: map[string]string{"K": "v"}, Input: []byte(`{"n":1}`), Files: []string{"skills/a/main.sh", "in/input.json", "in/big.csv"},
		Argv: []string{"bash", "main.sh"},
	}, g)
	require.Equal(t, "a", p.Booted())
}

func TestWorldsSideBySide(t *testing.T) {
	p := &Provider{}
	sb, err := p.Create(t.Context(), sandbox.Spec{})
	require.NoError(t, err)
	var all sync.WaitGroup
	for _, id := range strings.Split("abcdefgh", "") {
		all.Go(func() {
			w, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: id})
			if err == nil {
				err = w.Put(t.Context(), "in", []sandbox.File{file("input.json", id)})
			}
			if err == nil {
				_, err = w.Run(t.Context(), sandbox.Command{Argv: []string{id}}, io.Discard, io.Discard)
			}
			if g, _ := p.Given(id); err != nil || string(g.Input) != id || g.Argv[0] != id {
				t.Errorf("%s got %v, %v", id, g, err)
			}
		})
	}
	all.Wait()
}
