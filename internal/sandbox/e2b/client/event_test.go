package client

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is read straight from the wire is what the general decoder makes of it, and what it would not take is left to it.
func TestOutput(t *testing.T) {
	for name, test := range map[string]struct {
		payload string
		stdout  string
		stderr  string
		other   bool
	}{
		"stdout":                {payload: `{"event":{"data":{"stdout":"/wo="}}}`, stdout: "\xff\n"},
		"stderr":                {payload: `{"event":{"data":{"stderr":"eA=="}}}`, stderr: "x"},
		"of nothing":            {payload: `{"event":{"data":{"stdout":""}}}`},
		"both":                  {payload: `{"event":{"data":{"stdout":"eA==","stderr":"eA=="}}}`, other: true},
		"a space":               {payload: `{"event": {"data":{"stdout":"eA=="}}}`, other: true},
		"an escape":             {payload: `{"event":{"data":{"stdout":"\/wo="}}}`, other: true},
		"a line end in it":      {payload: "{\"event\":{\"data\":{\"stdout\":\"eA\n==\"}}}", other: true},
		"a return in it":        {payload: "{\"event\":{\"data\":{\"stdout\":\"eA\r==\"}}}", other: true},
		"not base64":            {payload: `{"event":{"data":{"stdout":"%%%"}}}`, other: true},
		"without padding":       {payload: `{"event":{"data":{"stdout":"eA"}}}`, other: true},
		"a terminal's":          {payload: `{"event":{"data":{"pty":"eA=="}}}`, other: true},
		"no name":               {payload: `{"event":{"data":{"std"}}}`, other: true},
		"the end":               {payload: `{"event":{"end":{"exited":true}}}`, other: true},
		"nothing":               {payload: ``, other: true},
		"head and tail overlap": {payload: `{"event":{"data":{"stdout":"}}}`, other: true},
	} {
		t.Run(name, func(t *testing.T) {
			ev, _, ok := output([]byte(test.payload), nil)
			require.Equal(t, !test.other, ok)
			if ok {
				require.Equal(t, test.stdout, string(ev.Stdout))
				require.Equal(t, test.stderr, string(ev.Stderr))
			}
		})
	}
}

// Two ways to read one thing must not differ.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("/wo="), true)
	f.Add([]byte("eA==\",\"stderr\":\"eA=="), false)
	f.Fuzz(func(t *testing.T, text []byte, errors bool) {
		head := dataHead + outHead
		if errors {
			head = dataHead + errHead
		}
		payload := append(append([]byte(head), text...), dataTail...)
		ev, _, ok := output(payload, make([]byte, 3))
		if !ok {
			return
		}
		var p processEvent
		require.NoError(t, json.Unmarshal(payload, &p))
		require.Equal(t, string(p.Event.Data.Stdout), string(ev.Stdout))
		require.Equal(t, string(p.Event.Data.Stderr), string(ev.Stderr))
	})
}

func BenchmarkOutput(b *testing.B) {
	payload, err := json.Marshal(map[string]any{"event": map[string]any{"data": map[string]any{"stdout": make([]byte, 32<<10)}}})
	require.NoError(b, err)
	b.Run("straight", func(b *testing.B) {
		b.SetBytes(32 << 10)
		var buf []byte
		for b.Loop() {
			_, buf, _ = output(payload, buf)
		}
	})
	b.Run("general", func(b *testing.B) {
		b.SetBytes(32 << 10)
		for b.Loop() {
			var p processEvent
			require.NoError(b, json.Unmarshal(payload, &p))
		}
	})
}
