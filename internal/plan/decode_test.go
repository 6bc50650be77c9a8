package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

func TestEncodeDecode(t *testing.T) {
	p := sample(t)
	data := encode(t, p)
	got, err := Decode(data, "joy.lock")
	require.NoError(t, err)
	require.Equal(t, string(data), string(encode(t, got)))
	require.Empty(t, Compare(p, got))

	want, err := Digest(p)
	require.NoError(t, err)
	require.Equal(t, want, got.Digest)
	require.Contains(t, string(data), `"description": "counts <words> & tells"`)
	require.Contains(t, string(data), "\"triggers\": [\n")
	require.NotContains(t, string(data), `"needs": null`)
}

func TestDigestIsOfMeaningAlone(t *testing.T) {
	a, b := sample(t), sample(t)
	b.Inputs = json.RawMessage("{ \"type\":\n\"object\"}")
	b.Digest = "sha256:anything"
	b.Steps[0].Needs = []string{}
	require.Equal(t, encode(t, a), encode(t, b))
	b.Policy.CPUs++
	require.NotEqual(t, encode(t, a), encode(t, b))
}

func TestEncodeRefusesWhatIsNotJSON(t *testing.T) {
	p := sample(t)
	p.Steps[0].With = json.RawMessage(`{"a":1,"a":2}`)
	_, err := Encode(p)
	require.ErrorContains(t, err, "encode with")
}

func TestEditedText(t *testing.T) {
	good := string(encode(t, sample(t)))
	swap := func(old, new string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, new, 1)
	}
	for name, tc := range map[string]struct {
		data string
		kind fault.Kind
		line int
		want string
	}{
		"empty":         {"\n", fault.Input, 0, "empty"},
		"not JSON":      {"lock_version: 1\n", fault.Input, 1, "malformed JSON"},
		"list":          {"[]\n", fault.Input, 1, "not a JSON object"},
		"other JSON":    {"{}\n", fault.Input, 1, "not a joy.lock"},
		"torn":          {good[:len(good)/2], fault.Input, 0, "malformed JSON"},
		"conflict":      {swap(`  "rules": 1,`, "<<<<<<< HEAD\n  \"rules\": 1,\n=======\n  \"rules\": 2,\n>>>>>>> b"), fault.Input, 3, "joy.lock has merge conflict markers"},
		"CRLF":          {strings.ReplaceAll(good, "\n", "\r\n"), fault.Input, 1, "CRLF"},
		"newer":         {swap(`"lock_version": 1`, `"lock_version": 2`), fault.Input, 2, "newer joy"},
		"older":         {swap(`"lock_version": 1`, `"lock_version": 0`), fault.Drift, 2, "older joy"},
		"version text":  {swap(`"lock_version": 1`, `"lock_version": "1"`), fault.Input, 1, "not a joy.lock"},
		"unknown key":   {swap(`"rules": 1,`, `"rules": 1, "ruels": 2,`), fault.Drift, 3, `unknown key "ruels"`},
		"key twice":     {swap(`"rules": 1,`, "\"rules\": 1,\n  \"rules\": 1,"), fault.Input, 4, `"rules" is there twice`},
		"key in caps":   {swap(`"rules"`, `"Rules"`), fault.Drift, 3, "not what joy writes"},
		"wrong type":    {swap(`"rules": 1,`, `"rules": "1",`), fault.Input, 3, "rules cannot be a string"},
		"compact":       {swap("{\n  \"lock_version\"", "{ \"lock_version\""), fault.Drift, 1, "not what joy writes"},
		"no newline":    {strings.TrimSuffix(good, "\n"), fault.Drift, 0, "not what joy writes"},
		"two newlines":  {good + "\n", fault.Drift, 0, "not what joy writes"},
		"trailing":      {good + "{}", fault.Input, 0, "malformed JSON"},
		"edited value":  {swap(`"cpus": 2`, `"cpus": 4`), fault.Drift, 4, "plan_digest does not fit"},
		"edited digest": {swap(`"plan_digest": "sha256:`, `"plan_digest": "sha256:0`), fault.Drift, 4, "plan_digest does not fit"},
		"null list":     {swap(`"allow": [`, `"allow": null, "x": [`), fault.Drift, 0, "unknown key"},
		"duration":      {swap(`"timeout": "15m"`, `"timeout": "900s"`), fault.Input, 0, "shortest form"},
		"escape":        {swap(`"weekly"`, `"\u0077eekly"`), fault.Drift, 0, "not what joy writes"},
	} {
		_, err := Decode([]byte(tc.data), "x/joy.lock")
		require.Error(t, err, name)
		f := fault.All(err)[0]
		require.ErrorContains(t, f, tc.want, name)
		require.Equal(t, tc.kind, f.Kind, "%s: %v", name, err)
		require.Equal(t, "x/joy.lock", f.File)
		require.NotEmpty(t, f.Hint, name)
		if tc.line > 0 {
			require.Equal(t, tc.line, f.Line, "%s: %v", name, err)
		}
	}
}

// FuzzDecode: what decodes is, byte for byte, what Encode writes.
func FuzzDecode(f *testing.F) {
	good := encode(f, sample(f))
	f.Add(good)
	f.Add([]byte(strings.Replace(string(good), `"rules"`, `"RULES"`, 1)))
	f.Add([]byte(`{"lock_version":1}`))
	for _, definition := range []string{odd, `{"name":"upload","n":1.0}`, `{"name":"upload","n":[1e400,-0,0.10]}`, `{"name":"upload","\u2028":"\u2028"}`} {
		p := sample(f)
		p.Connections["drive"].Tools["upload"] = Tool{Digest: digest.Bytes([]byte(definition)), Definition: json.RawMessage(definition)}
		f.Add(encode(f, p))
	}
	f.Add([]byte("{\"lock_version\":1,\"steps\":[{\"with\":{\"a\":1.0}}]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data, "joy.lock")
		if err != nil {
			require.NotEmpty(t, fault.All(err)[0].Code)
			return
		}
		again, err := Encode(p)
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
	})
}
