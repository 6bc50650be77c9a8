package verify_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// Lines that a decoder takes but no joy wrote. Their hashes are right: only the form gives them away.
func TestLinesThatAreNotCanonical(t *testing.T) {
	valid, _ := line(1, entry{typ: "run.started", step: "a", data: `{"a":"é\n","n":1}`}, plan)
	require.NoError(t, verify.Read(strings.NewReader(valid), func(verify.Entry) error { return nil }))
	for name, edit := range map[string][2]string{
		"space":             {`"seq":1`, `"seq": 1`},
		"order":             {`"type":"run.started","step":"a"`, `"step":"a","type":"run.started"`},
		"case of a key":     {`"run":`, `"Run":`},
		"extra key":         {`"data":{`, `"extra":1,"data":{`},
		"duplicate key":     {`"seq":1`, `"seq":2,"seq":1`},
		"duplicate in data": {`"n":1`, `"n":2,"n":1`},
		"two datas":         {`"data":{`, `"data":{},"data":{`},
		"data's order":      {`"a":"é\n","n":1`, `"n":1,"a":"é\n"`},
		"escaped letter":    {`é`, `\u00e9`},
		"escaped slash":     {`é`, `\/`},
		"long escape":       {`\n`, `\u000a`},
		"upper hex":         {`\n`, `\u001F`},
		"invalid UTF-8":     {`é`, "\xff"},
		"lone surrogate":    {`é`, `\ud800`},
		"empty step":        {`"step":"a"`, `"step":""`},
		"null step":         {`"step":"a"`, `"step":null`},
		"null data":         {`{"a":"é\n","n":1}`, `null`},
		"list for data":     {`{"a":"é\n","n":1}`, `[]`},
		"null in data":      {`"n":1`, `"n":null`},
		"null in a list":    {`"n":1`, `"n":[null]`},
		"float":             {`"n":1`, `"n":1.0`},
		"exponent":          {`"n":1`, `"n":1e3`},
		"negative zero":     {`"n":1`, `"n":-0`},
		"beyond 2^53":       {`"n":1`, `"n":9007199254740992`},
		"seq as text":       {`"seq":1`, `"seq":"1"`},
		"seq left out":      {`"seq":1,`, ``},
		"time without ms":   {`18:03:00.000Z`, `18:03:00Z`},
		"time in a zone":    {`18:03:00.000Z`, `18:03:00.000+00:00`},
		"time with comma":   {`18:03:00.000Z`, `18:03:00,000Z`},
		"hour of one digit": {`T18:03:00.000Z`, `T8:03:00.000Z`},
		"too deep":          {`"n":1`, `"n":` + strings.Repeat("[", 65) + strings.Repeat("]", 65)},
		"far too deep":      {`"n":1`, `"n":` + strings.Repeat("[", 1<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			l := forge(t, []byte(valid), edit[0], edit[1])
			err := verify.Read(bytes.NewReader(l), func(verify.Entry) error { return errors.New("accepted") })
			var bad *verify.BadLine
			require.ErrorAs(t, err, &bad)
			require.Equal(t, 1, bad.Line)
			require.False(t, bad.Torn)
		})
	}
	for name, l := range map[string]string{
		"two objects":     strings.TrimSuffix(valid, "\n") + valid,
		"space at front":  " " + valid,
		"byte order mark": "\uFEFF" + valid,
		"list":            "[]\n",
		"text":            "\"x\"\n",
		"null":            "null\n",
	} {
		t.Run(name, func(t *testing.T) {
			var bad *verify.BadLine
			require.ErrorAs(t, verify.Read(strings.NewReader(l), func(verify.Entry) error { return nil }), &bad)
		})
	}
}

func TestReadStopsWhereTheFunctionSays(t *testing.T) {
	enough := errors.New("enough")
	n := 0
	err := verify.Read(bytes.NewReader(golden(t, "finished.jsonl")), func(e verify.Entry) error {
		if n++; e.Seq == 3 {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough)
	require.Equal(t, 3, n)
}

func TestEntry(t *testing.T) {
	var got []verify.Entry
	require.NoError(t, verify.Read(bytes.NewReader(golden(t, "finished.jsonl")), func(e verify.Entry) error {
		got = append(got, e)
		return nil
	}))
	denied := got[7]
	require.Equal(t, 8, denied.Line)
	require.Equal(t, "render", denied.Step)
	require.Equal(t, "evil.example", denied.String("host"))
	require.Empty(t, denied.String("port"), "an integer is no string")
	port, ok := denied.Int("port")
	require.True(t, ok)
	require.EqualValues(t, 443, port)
	_, ok = denied.Int("host")
	require.False(t, ok)
}

func FuzzRead(f *testing.F) {
	f.Add(golden(f, "finished.jsonl"))
	f.Add(golden(f, "interrupted.jsonl"))
	valid, _ := line(1, entry{typ: "run.started", data: `{"a":[{"b":true}],"n":-9007199254740991}`}, plan)
	f.Add([]byte(valid))
	f.Add([]byte(strings.Replace(valid, `"n"`, `"n":1,"n"`, 1)))
	f.Add([]byte("{\"seq\":1\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		taken := 0
		err := verify.Read(bytes.NewReader(b), func(e verify.Entry) error {
			again, err := verify.Canonical(e.Raw)
			require.NoError(t, err)
			require.Equal(t, string(e.Raw), string(again))
			taken += len(e.Raw) + 1
			return nil
		})
		var bad *verify.BadLine
		if errors.As(err, &bad) && !bad.Torn && bad.Problem != fmt.Sprintf("is longer than %d bytes", verify.MaxLine) {
			raw, _, _ := bytes.Cut(b[taken:], []byte("\n"))
			again, err := verify.Canonical(raw)
			require.True(t, err != nil || !bytes.Equal(raw, again), "refused, but it has the one form: %q", raw)
		}
		rep, err := verify.Check(bytes.NewReader(b), verify.Options{})
		require.NoError(t, err)
		require.Equal(t, rep.State == verify.Complete, rep.Problem == "")
	})
}

func BenchmarkCheck(b *testing.B) {
	whole := golden(b, "finished.jsonl")
	b.SetBytes(int64(len(whole)))
	for b.Loop() {
		rep, err := verify.Check(bytes.NewReader(whole), verify.Options{})
		if err != nil || rep.State != verify.Complete {
			b.Fatal(err, rep.Problem)
		}
	}
}
