package digest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

func TestCanonicalJSONRefuses(t *testing.T) {
	cases := []struct {
		name, in  string
		line, col int
		says      string
	}{
		{"nothing", "", 1, 1, "malformed"},
		{"two values", "{} {}", 1, 4, "malformed"},
		{"open object", `{"a":1`, 1, 6, "malformed"},
		{"trailing comma", "{\n  \"a\": 1,\n}", 3, 1, "malformed"},
		{"not a number", `{"a":NaN}`, 1, 6, "malformed"},
		{"leading zero", `01`, 1, 2, "malformed"},
		{"same key twice", `{"a":1,"b":2,"a":1}`, 1, 16, `key "a"`},
		{"same key in another spelling", `{"a":1,"\u0061":1}`, 1, 15, `key "a"`},
		{"same key deep down", `[{"x":{"a":1,"a":2}}]`, 1, 16, `key "a"`},
		{"2^53", `9007199254740992`, 1, 16, "2^53"},
		{"-2^53", `-9007199254740992`, 1, 17, "2^53"},
		{"beyond int64", `[123456789012345678901234567890]`, 1, 31, "2^53"},
		{"a large integer as a double", `9007199254740993.0`, 1, 18, "2^53"},
		{"beyond a double", `1e999`, 1, 5, "range"},
		{"invalid UTF-8", "[\"a\xff\"]", 1, 4, "UTF-8"},
		{"invalid UTF-8 in a key", "{\n\"\xc3\":1}", 2, 2, "UTF-8"},
		{"high surrogate alone", `"\ud800"`, 1, 2, "surrogate"},
		{"low surrogate alone", `"x\udc00"`, 1, 3, "surrogate"},
		{"two high surrogates", `"\ud83d\ud83d"`, 1, 2, "surrogate"},
		{"too deep", strings.Repeat("[", 129) + strings.Repeat("]", 129), 1, 129, "128 levels"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := digest.CanonicalJSON([]byte(c.in))
			require.ErrorContains(t, err, c.says)
			var f *fault.Error
			require.ErrorAs(t, err, &f)
			require.Equal(t, fault.Input, f.Kind)
			require.Equal(t, [2]int{c.line, c.col}, [2]int{f.Line, f.Col})
		})
	}
}

func TestCanonicalJSON(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"space", " { \"b\" : [ 1 , true ,null ] ,\n\"a\":{}} ", `{"a":{},"b":[1,true,null]}`},
		{"keys by UTF-16", `{"\uFB33":1,"😀":2,"ö":3,"1":4,"\r":5}`, `{"\r":5,"1":4,"ö":3,"😀":2,"` + "\uFB33" + `":1}`},
		{"escapes", `"\u0008\t\n\f\r\u000b\u001f\"\\\/\u007f<>&\u2028"`, `"\b\t\n\f\r\u000b\u001f\"\\/` + "\u007f<>&\u2028" + `"`},
		{"surrogate pair", `"\ud83d\ude00 \\ud800"`, `"😀 \\ud800"`},
		{"largest integers", `[9007199254740991,-9007199254740991]`, `[9007199254740991,-9007199254740991]`},
		{"minus zero", `[-0,-0.0,0e9]`, `[0,0,0]`},
		{"doubles that are integers", `[1.0,10e-1,1E3,-2.50e1]`, `[1,1,1000,-25]`},
		{"deep enough", strings.Repeat("[", 128) + strings.Repeat("]", 128), strings.Repeat("[", 128) + strings.Repeat("]", 128)},
		// Samples of RFC 8785, appendix B.
		{
			"doubles", `[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,1e-7,0.000001,5e-324,1.7976931348623157e308]`,
			`[333333333.3333333,1e+30,4.5,0.002,1e-27,1e-7,0.000001,5e-324,1.7976931348623157e+308]`,
		},
		{"where the exponent begins", `[1e21,-1.5E22]`, `[1e+21,-1.5e+22]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := digest.CanonicalJSON([]byte(c.in))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestCanonicalOfGoValues(t *testing.T) {
	got, err := digest.Canonical(struct {
		Z string         `json:"z"`
		A map[string]any `json:"a"`
	}{"<&>", map[string]any{"y": 1.5, "x": []int(nil)}})
	require.NoError(t, err)
	require.Equal(t, `{"a":{"x":null,"y":1.5},"z":"<&>"}`, string(got))

	_, err = digest.Canonical(map[string]any{"big": uint64(1) << 60})
	require.ErrorContains(t, err, "2^53")
	_, err = digest.Canonical(func() {})
	var unsupported *json.UnsupportedTypeError
	require.ErrorAs(t, err, &unsupported)
}

// What is accepted is its own canonical form from then on, and means the same to another reader.
func FuzzCanonicalJSON(f *testing.F) {
	for _, s := range []string{
		`{"b":[1,2.50,-0],"a":{"\u0061":"\ud83d\ude00"}}`, `[1e21,1e-7,1e400]`, `"\ud800"`, `{"a":1,"a":2}`,
		`9007199254740993`, "\xef\xbb\xbf{}", `{"é":1,"é":2}`, `[[[[[]]]]]`, `"\u2028</script>"`, ` null `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := digest.CanonicalJSON(raw)
		if err != nil {
			return
		}
		twice, err := digest.CanonicalJSON(once)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))

		var before, after any
		require.NoError(t, json.Unmarshal(raw, &before))
		require.NoError(t, json.Unmarshal(once, &after))
		require.Equal(t, before, after)
	})
}

func TestCanonicalText(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":18446744073709551615, "a":1.0}`: `{"a":1.0,"b":18446744073709551615}`,
		` [1e400, -0, 0.10, 1E2] `:            `[1e400,-0,0.10,1E2]`,
		`"\u00e9\/"`:                          `"é/"`,
	} {
		got, err := digest.CanonicalText([]byte(in))
		require.NoError(t, err, in)
		require.Equal(t, want, string(got))
		again, err := digest.CanonicalText(got)
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
	for _, in := range []string{``, `{"a":1,"a":2}`, `01`, `"\ud800"`, `[1] 2`, "\"\xff\"", strings.Repeat("[", 200) + strings.Repeat("]", 200)} {
		_, err := digest.CanonicalText([]byte(in))
		require.Error(t, err, in)
	}
}
