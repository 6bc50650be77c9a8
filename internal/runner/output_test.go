package runner

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

// captured is a command that has printed this.
func captured(t testing.TB, stdout ...string) *command {
	t.Helper()
	r := &run{Config: Config{Secrets: secret.NewSet()}}
	c := &command{}
	var err error
	c.stdout, err = r.newCapture("", "stdout", maxHead)
	require.NoError(t, err)
	for _, part := range stdout {
		_, err := c.stdout.Write([]byte(part))
		require.NoError(t, err)
	}
	require.NoError(t, c.stdout.close())
	return c
}

func TestNoResult(t *testing.T) {
	for name, tc := range map[string]struct{ stdout, want string }{
		"nothing":               {"", "printed no result"},
		"only blank lines":      {" \r\n\t\n", "printed no result"},
		"text":                  {"done\n", `its last line is "done"`},
		"a value after text":    {"count:\n5\n", `its last line is "5"`},
		"a list after text":     {"log\n[1]\n", `its last line is "[1]"`},
		"text after the object": {"{\"a\":1}\nbye\n", `its last line is "bye"`},
		"NaN":                   {"NaN", "not JSON"},
		"NaN inside":            {`{"a": NaN}`, "invalid character 'N'"},
		"torn object":           {"log\n{\"a\": 1", "unexpected EOF"},
		"two on one line":       {`log` + "\n" + `{"a":1}{"b":2}`, "more follows"},
		"keys twice":            {`{"a":1,"b":{"x":1,"x":2}}`, `the key "x" is there twice`},
		"keys twice, escaped":   {`{"ab":1,"\u0061b":2}`, `the key "ab" is there twice`},
		"keys twice in a list":  {`log` + "\n" + `{"l":[{"a":1},{"a":1,"c":[],"a":2}]}`, `the key "a" is there twice`},
		"not UTF-8":             {"{\"a\":\"\xff\"}", "not valid UTF-8"},
		"pretty, after text":    {"log\n{\n  \"a\": 1\n}\n", `its last line is "}"`},
		"only carriage returns": {"log\r{\"a\":1}", "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := captured(t, tc.stdout).result()
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "write logs to stderr")
			require.Less(t, len(err.Error()), 600)
			require.Nil(t, out)
		})
	}
}

func TestResult(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	for name, tc := range map[string]struct{ stdout, want string }{
		"object":                    {"{\"a\": [1, 2.50, 1e3]}\n", `{"a":[1,2.50,1e3]}`},
		"pretty":                    {"{\n  \"a\": 1\n}\n", `{"a":1}`},
		"string":                    {`"x"`, `"x"`},
		"null":                      {"null\n", `null`},
		"false":                     {"false", `false`},
		"list":                      {"[]", `[]`},
		"integer of any length":     {"123456789012345678901234567890", `123456789012345678901234567890`},
		"after progress":            {"Collecting x…\n{\"ok\":true}\n\n", `{"ok":true}`},
		"the last of two":           {"{\"a\":1}\n{\"b\":2}", `{"b":2}`},
		"CRLF":                      {"log\r\n{\"a\":1}\r\n", `{"a":1}`},
		"empty object":              {"log\n{}", `{}`},
		"the same key in two":       {`{"a":{"x":1},"b":{"x":1},"l":[{"x":1},{"x":1}]}`, `{"a":{"x":1},"b":{"x":1},"l":[{"x":1},{"x":1}]}`},
		"one line of 2 MiB":         {`{"a":"` + long + `"}`, `{"a":"` + long + `"}`},
		"2 MiB in a last line":      {"log\n" + `{"a":"` + long + `"}` + "\n", `{"a":"` + long + `"}`},
		"< and > as they are":       {`{"a":"<b>&\u003c"}`, `{"a":"<b>&\u003c"}`},
		"after more than it holds":  {strings.Repeat("progress\n", maxHead/8) + `{"a":1}`, `{"a":1}`},
		"after invalid UTF-8":       {"\xff\xfe\n{\"a\":1}", `{"a":1}`},
		"after escape sequences":    {"\x1b]0;x\x07\x1b[2K\n{\"a\":1}", `{"a":1}`},
		"exactly as much as it may": {`"` + strings.Repeat("x", maxHead-2) + `"`, `"` + strings.Repeat("x", maxHead-2) + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := captured(t, tc.stdout).result()
			require.NoError(t, err)
			require.True(t, tc.want == string(out), "%.100s", out)
		})
	}
}

// One value of more than 16 MiB is no result, and neither is a last line that is longer than what is remembered; a
// newline in what was remembered long before is not taken for its beginning.
func TestResultOfTooMuch(t *testing.T) {
	big := strings.Repeat("x", maxHead)
	_, err := captured(t, `"`+big+`"`).result()
	require.ErrorContains(t, err, "longer than 1 MiB")
	_, err = captured(t, big, "log\n", strings.Repeat("y", 3*maxTail), `{"a":1}`).result()
	require.ErrorContains(t, err, "longer than 1 MiB")
	chunks := []string{big, "log\n"}
	for range 40 {
		chunks = append(chunks, strings.Repeat("z", 64<<10))
	}
	_, err = captured(t, append(chunks, `{"a":1}`)...).result()
	require.ErrorContains(t, err, "longer than 1 MiB")
	out, err := captured(t, append(chunks, "\n"+`{"a":1}`)...).result()
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1}`, string(out))
}

func TestDeepNesting(t *testing.T) {
	_, err := captured(t, strings.Repeat("[", 10<<20)).result()
	require.ErrorContains(t, err, "not JSON")
	_, err = captured(t, strings.Repeat(`{"a":`, 2<<20)).result()
	require.ErrorContains(t, err, "not JSON")
}

// Whatever a script prints, its result is JSON that reads the same again, or an error.
func FuzzResult(f *testing.F) {
	for _, s := range []string{"", "{}", "a\n{\"b\":1}\n", "[1,2", "\"\\ud800\"", "{\"a\":1,\"a\":2}", "\xff", "1e999", "\r\n{}\r\n", "{}\x00"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, stdout string, cut int) {
		cut = min(max(cut, 0), len(stdout))
		out, err := captured(t, stdout[:cut], stdout[cut:]).result()
		if err != nil {
			require.Nil(t, out)
			return
		}
		again, err := captured(t, string(out)).result()
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))
		require.Contains(t, strings.Join(strings.Fields(stdout), ""), strings.Join(strings.Fields(string(out)), ""))
	})
}
