package agent

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

func TestWhatIsNoDocument(t *testing.T) {
	for name, tc := range map[string]struct{ data, place, want string }{
		"empty":         {"", "f", "empty"},
		"comment":       {"# nothing\n", "f", "empty"},
		"list":          {"- a\n", "f:1:1", "joy.yaml must be a mapping, not a list"},
		"two documents": {minimal + "---\nname: b\n", "f:4:1", "second document"},
		"torn second":   {minimal + "---\nname: 'b\n", "f", ""},
		"tab":           {"version: 1\npolicy:\n\tcpus: 2\n", "f:3:1", "tab in the indentation"},
		"colon":         {"version: 1\ndescription: a: b\n", "f:2", "mapping values"},
		"not UTF-8":     {"version: 1\nname: é\xff\n", "f:2:8", "0xff is not UTF-8"},
		"UTF-16":        {"\xff\xfev\x00", "f:1:1", "UTF-16"},
		"NUL":           {"version: 1\nname: \x00\n", "f:2:7", "NUL"},
		"too big":       {strings.Repeat("#", MaxBytes+1), "f", "at most 1048576"},
		"alias":         {"version: 1\nname: &n a\ndescription: *n\n", "f:2:7", "anchor"},
		"merge":         {"version: 1\nmodel: {<<: {a: b}}\n", "f:2:9", "merge key"},
		"tag":           {"version: !!str 1\n", "f:1:10", "a tag"},
		"binary":        {"version: !!binary aGk=\n", "f:1:10", "a tag"},
		"key twice":     {"name: a\nversion: 1\nname: b\n", "f:3:1", "first in line 1"},
		"key twice in":  {minimal + "inputs: {a: 1, \"a\": 2}\n", "f:4:16", "twice"},
		"odd key":       {minimal + "inputs: {[a]: 1}\n", "f:4:10", "a key must be text"},
		"deep":          {minimal + "inputs: " + strings.Repeat("{a: ", 40) + "1" + strings.Repeat("}", 40), "f:4:130", "nested more than 32"},
		"very deep":     {strings.Repeat("[", 100_000), "f", ""},
		"unclosed":      {"version: [1\n", "f:1", ""},
		"control":       {"version: 1\nname: \x01\n", "f", "control characters"},
		"version":       {"version: \"1\"\nname: a\nskills: [a]\n", "f:1:10", "must be 1, not text"},
		"nothing to do": {"version: 1\nname: a\n", "f:1:1", "nothing to run"},
	} {
		_, err := Parse([]byte(tc.data), "f")
		require.Error(t, err, name)
		first := fault.All(err)[0]
		require.Truef(t, strings.HasPrefix(first.Place(), tc.place), "%s: %v", name, err)
		require.ErrorContains(t, first, tc.want, name)
	}
}

func TestByteOrderMarkAndLineEnds(t *testing.T) {
	_, err := Parse([]byte("\ufeff"+strings.ReplaceAll(minimal, "\n", "\r\n")), "joy.yaml")
	require.NoError(t, err)
}

func TestCron(t *testing.T) {
	for _, bad := range []string{
		"", "* * * *", "* * * * * *", "60 * * * *", "-1 * * * *", "+1 * * * *", "*/0 * * * *", "*/61 * * * *", "5-1 * * * *", "a * * * *",
		"1,, * * * *", "0 0 30 2 *", "0 0 31 4,6 *", "0 0 13 * 5", "* * * * 8", "TZ=UTC * * * *", "@daily", "* * 0 * *", "1/ * * * *",
		"1-2-3 * * * *", "* * * * l",
	} {
		require.Error(t, checkCron(bad), bad)
	}
	for _, good := range []string{"0 5 * * 1", "*/5 0-6,12 * jan-mar *", "0 0 29 2 *", "0 0 * * sun", "0 0 * * 7", "5/10 * 1 * *"} {
		require.NoError(t, checkCron(good), good)
	}
	require.False(t, knownZone("Local"))
	require.False(t, knownZone("../etc/passwd"))
}

// FuzzParse: no panic, and what is refused is refused with a fault of kind Input in the file named.
func FuzzParse(f *testing.F) {
	whole, err := os.ReadFile("testdata/whole.yaml")
	require.NoError(f, err)
	f.Add(whole)
	for _, s := range []string{minimal, "- a\n", "a: &x [*x]\n", "? {a: b}\n: c\n", "--- |\n a\n---\n", "%YAML 1.1\n--- {}\n", "steps: [{id: 1e9, with: {a: 2024-01-01}}]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data, "joy.yaml")
		if err == nil {
			require.NoError(t, s.Policy.Check())
			return
		}
		require.Nil(t, s)
		for _, e := range fault.All(err) {
			require.Equal(t, fault.Input, e.Kind)
			require.Equal(t, "joy.yaml", e.File)
		}
	})
}
