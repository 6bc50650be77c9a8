package replay_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/replay"
)

// store keeps bodies by their names, as a run does.
type store map[string][]byte

func (s store) keep(text string) ledger.Data {
	name := digest.Bytes([]byte(text))
	s[name] = []byte(text)
	return ledger.Data{"sha256": name, "bytes": len(text)}
}

func (s store) open(name string) (io.ReadCloser, error) {
	b, ok := s[name]
	if !ok {
		return nil, errors.New("it is not there")
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// past is the ledger of a run that asked a model once and called a tool twice.
func past(t testing.TB) ([]byte, store) {
	t.Helper()
	s := store{}
	var out bytes.Buffer
	w, err := ledger.Memory("20261124-180300-k3fq2a", "sha256:"+strings.Repeat("ab", 32), ledger.Options{Tee: &out})
	require.NoError(t, err)
	add := func(typ ledger.Type, step string, d ledger.Data) int64 {
		seq, err := w.Append(typ, step, d)
		require.NoError(t, err)
		return seq
	}
	add(ledger.RunStarted, "", ledger.Data{"agent": "a", "input": s.keep(`{"week":"W48"}`)})
	asked := add(ledger.ModelRequested, "tell", ledger.Data{"turn": 1, "provider": "openai", "model": "m", "request": s.keep(`{"messages":["hello"]}`)})
	add(ledger.ModelReplied, "tell", ledger.Data{"of": asked, "turn": 1, "status": 200, "response": s.keep("data: [DONE]\n\n")})
	for _, answer := range []string{"first", "second"} {
		called := add(ledger.ToolRequested, "tell", ledger.Data{"action": "a.b", "arguments": s.keep(`{"n":1}`)})
		add(ledger.ToolReturned, "tell", ledger.Data{"of": called, "action": "a.b", "result": s.keep(`{"content":["` + answer + `"]}`)})
	}
	add(ledger.RunFinished, "", ledger.Data{"outcome": "succeeded"})
	require.NoError(t, w.Close())
	return out.Bytes(), s
}

func read(t *testing.T) *replay.Record {
	t.Helper()
	text, s := past(t)
	r, err := replay.Read(bytes.NewReader(text), s.open)
	require.NoError(t, err)
	return r
}

func TestTheVeryQuestionIsAnswered(t *testing.T) {
	r := read(t)
	require.JSONEq(t, `{"week":"W48"}`, string(r.Input))
	require.Equal(t, "turn 1 of step tell was not asked for", r.Unasked())
	request := []byte(`{"messages":["hello"]}`)
	require.NoError(t, r.Expect("tell", 1, request))
	res, err := r.Transport(bytes.Clone).RoundTrip(post(t, request))
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, "data: [DONE]\n\n", string(body))
	for _, want := range []string{"first", "second"} { // equal calls, in the order of the record
		require.NotEmpty(t, r.Unasked())
		got, err := r.Call(t.Context(), "tell", "a.b", []byte(`{"n":1}`))
		require.NoError(t, err)
		require.Contains(t, string(got.Raw), want)
	}
	require.Empty(t, r.Unasked())
}

func post(t *testing.T, body []byte) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/v1", bytes.NewReader(body))
	require.NoError(t, err)
	return req
}

func TestAnotherQuestionIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		ask  func(r *replay.Record) error
		says string
	}{
		"another request": {func(r *replay.Record) error { return r.Expect("tell", 1, []byte(`{"messages":["help!"]}`)) }, `turn 1 of step tell asks something else than on record, from byte 17 on: `},
		"a turn more":     {func(r *replay.Record) error { return r.Expect("tell", 2, nil) }, "the run on record had 1 turns"},
		"another step":    {func(r *replay.Record) error { return r.Expect("say", 1, nil) }, "which it did not do in the run on record"},
		"other arguments": {func(r *replay.Record) error {
			_, err := r.Call(t.Context(), "tell", "a.b", []byte(`{"n":2}`))
			return err
		}, `step tell calls a.b with other arguments than on record, from byte 5 on: `},
		"another tool": {func(r *replay.Record) error { _, err := r.Call(t.Context(), "tell", "a.c", nil); return err }, "has no such call left"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t)
			require.False(t, r.Parted())
			err := c.ask(r)
			require.ErrorContains(t, err, c.says)
			require.True(t, r.Parted())
			require.Equal(t, fault.Agent, fault.KindOf(err))
		})
	}
	res, err := read(t).Transport(bytes.Clone).RoundTrip(post(t, []byte("never announced")))
	if res != nil {
		res.Body.Close()
	}
	require.ErrorContains(t, err, "not on record")
}

// What was changed in a record is found: a ledger by its chain, a body by its name.
func TestChangedRecords(t *testing.T) {
	text, s := past(t)
	_, err := replay.Read(bytes.NewReader(bytes.Replace(text, []byte(`"a.b"`), []byte(`"a.x"`), 1)), s.open)
	require.Equal(t, fault.Ledger, fault.KindOf(err))
	_, err = replay.Read(bytes.NewReader(text[:len(text)/2]), s.open)
	require.Equal(t, fault.Ledger, fault.KindOf(err))

	_, err = replay.Needs(replay.Parts{Ledger: text[:len(text)/2]}, &plan.Plan{})
	require.Equal(t, fault.Ledger, fault.KindOf(err))
	_, err = replay.Needs(replay.Parts{Ledger: text, Seal: []byte("no seal")}, &plan.Plan{})
	require.ErrorContains(t, err, "its seal cannot be read")
	require.Equal(t, fault.Ledger, fault.KindOf(err))
}
