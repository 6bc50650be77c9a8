package ledger_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

func nest(depth int) any {
	var v any = "x"
	for range depth {
		v = []any{v}
	}
	return v
}

func TestDataThatCannotBeRecorded(t *testing.T) {
	for name, v := range map[string]any{
		"float":              1.5,
		"whole float":        float64(2),
		"nil":                nil,
		"bytes":              []byte("x"),
		"unsigned":           uint64(1),
		"struct":             struct{}{},
		"beyond 2^53":        int64(1) << 53,
		"beyond -2^53":       -(int64(1) << 53),
		"number beyond":      json.Number("9007199254740992"),
		"number float":       json.Number("1e3"),
		"number empty":       json.Number(""),
		"invalid UTF-8":      "a\xff",
		"invalid key":        map[string]any{"\xff": 1},
		"lone surrogate":     "\xed\xa0\x80",
		"nested nil":         []any{map[string]any{"a": nil}},
		"too deep":           nest(ledger.MaxDepth),
		"longer than a line": strings.Repeat("x", ledger.MaxLine),
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := ledger.Memory("r", plan, ledger.Options{Tee: &out})
			require.NoError(t, err)
			_, err = w.Append(ledger.RunStarted, "", ledger.Data{"v": v})
			require.Error(t, err)
			seq, err := w.Append(ledger.RunStarted, "", nil) // a refused entry is no failure of the ledger, and has no seq
			require.NoError(t, err)
			require.EqualValues(t, 1, seq)
			require.NoError(t, w.Close())
			require.Equal(t, 1, strings.Count(out.String(), "\n"))
		})
	}
}

func TestCanonicalForm(t *testing.T) {
	for name, c := range map[string]struct {
		data ledger.Data
		want string
	}{
		"nothing":        {nil, `{}`},
		"sorted by byte": {ledger.Data{"b": 1, "a": 2, "B": 3, "é": 4, "z": 5}, `{"B":3,"a":2,"b":1,"z":5,"é":4}`},
		"sorted inside":  {ledger.Data{"m": []any{map[string]any{"y": true, "x": false}}}, `{"m":[{"x":false,"y":true}]}`},
		"escapes":        {ledger.Data{"s": "\"\\/\b\f\n\r\t\x00\x1f\x7f"}, `{"s":"\"\\/\b\f\n\r\t\u0000\u001f` + "\x7f" + `"}`},
		"no HTML":        {ledger.Data{"s": "<&>'\u2028\u2029"}, `{"s":"<&>'` + "\u2028\u2029" + `"}`},
		"largest":        {ledger.Data{"n": int64(ledger.MaxInt), "m": -ledger.MaxInt}, `{"m":-9007199254740991,"n":9007199254740991}`},
		"number":         {ledger.Data{"n": json.Number("0042")}, `{"n":42}`},
		"lists":          {ledger.Data{"a": []string{}, "b": []string{"x", "y"}, "c": []any{}}, `{"a":[],"b":["x","y"],"c":[]}`},
		"deepest":        {ledger.Data{"v": nest(ledger.MaxDepth - 1)}, `{"v":` + strings.Repeat("[", 63) + `"x"` + strings.Repeat("]", 63) + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := ledger.Memory("r", plan, ledger.Options{Now: ticking(), Tee: &out})
			require.NoError(t, err)
			_, err = w.Append(ledger.RunStarted, "", c.data)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			require.Contains(t, out.String(), `"type":"run.started","data":`+c.want+`,"prev":"`+plan+`","hash":"sha256:`)
			require.True(t, json.Valid(out.Bytes()))
			require.NoError(t, verify.Read(&out, func(verify.Entry) error { return nil }))
		})
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		in, want string
		invalid  bool
	}{
		{"", "", false},
		{"café\n", "café\n", false},
		{"a\x00\x1b[2K", "a\x00\x1b[2K", false},
		{"\uFFFD", "\uFFFD", false}, // a replacement that was there is valid
		{"caf\xc3", "caf\uFFFD", true},
		{"\xff\xfe\n", "\uFFFD\n", true},
		{"a\xffb\xfec", "a\uFFFDb\uFFFDc", true},
	} {
		got, invalid := ledger.Text([]byte(c.in))
		require.Equal(t, c.want, got)
		require.Equal(t, c.invalid, invalid)
	}
}

func FuzzDataReadsBack(f *testing.F) {
	f.Add("key", "value", int64(1), true)
	f.Add("", "\u2028\x00\x7f\"\\", int64(math.MinInt64), false)
	f.Add("é\xff", "😀\xed\xa0\x80", int64(ledger.MaxInt), false)
	f.Fuzz(func(t *testing.T, k, s string, n int64, b bool) {
		var out bytes.Buffer
		w, err := ledger.Memory("r", plan, ledger.Options{Tee: &out})
		require.NoError(t, err)
		_, err = w.Append(ledger.RunStarted, "", ledger.Data{"k": map[string]any{k: s}, "n": n, "b": b})
		require.NoError(t, w.Close())
		if err != nil {
			require.Empty(t, out.Bytes())
			return
		}
		require.NoError(t, verify.Read(&out, func(e verify.Entry) error {
			require.Equal(t, map[string]any{"k": map[string]any{k: s}, "n": n, "b": b}, e.Data)
			return nil
		}))
	})
}
