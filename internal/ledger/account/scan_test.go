package account_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

var sample = []record{
	{ledger.RunStarted, "", ledger.Data{"agent": "a"}},
	{ledger.StepStarted, "render", ledger.Data{"kind": "script"}},
	{ledger.CommandStarted, "render", ledger.Data{"command": "echo \"step\":\"fetch\"\n" + strings.Repeat("x", 2<<20), "bytes": 5}},
	{ledger.CommandFinished, "render", ledger.Data{"of": 3, "exit": 0, "ms": 1}},
	{ledger.StepFinished, "render", ledger.Data{"status": "succeeded"}},
	{ledger.StepStarted, "fetch", ledger.Data{"kind": "action", "action": "sales.list"}},
	{ledger.StepFinished, "fetch", ledger.Data{"status": "failed", "error": "no such host: sales.example"}},
	{ledger.RunFinished, "", ledger.Data{"outcome": "failed"}},
}

func scan(t *testing.T, lines []byte, f account.Filter) (seqs []int64, last string, err error) {
	t.Helper()
	last, err = account.Scan(bytes.NewReader(lines), f, nil, func(e verify.Entry) error {
		seqs = append(seqs, e.Seq)
		return nil
	})
	return seqs, last, err
}

func TestScan(t *testing.T) {
	lines := write(t, sample)
	for name, c := range map[string]struct {
		filter account.Filter
		want   []int64
	}{
		"all":                  {account.Filter{}, []int64{1, 2, 3, 4, 5, 6, 7, 8}},
		"a step":               {account.Filter{Step: "fetch"}, []int64{6, 7}},
		"no such step":         {account.Filter{Step: "fetc"}, nil},
		"a type":               {account.Filter{Types: []string{"command.finished"}}, []int64{4}},
		"the first part":       {account.Filter{Types: []string{"command", "run"}}, []int64{1, 3, 4, 8}},
		"no part of a word":    {account.Filter{Types: []string{"comm"}}, nil},
		"since":                {account.Filter{Since: began.Add(6 * time.Second)}, []int64{7, 8}},
		"until":                {account.Filter{Until: began.Add(time.Second)}, []int64{1, 2}},
		"a word":               {account.Filter{Grep: regexp.MustCompile(`sales\.example`)}, []int64{7}},
		"what needs an escape": {account.Filter{Grep: regexp.MustCompile(`"step":"fetch"\n`)}, []int64{3}},
		"over two values":      {account.Filter{Grep: regexp.MustCompile(`exit 0 ms`)}, []int64{4}},
		"without case":         {account.Filter{Grep: regexp.MustCompile(`(?i)SALES`)}, []int64{6, 7}},
		"step and type":        {account.Filter{Step: "render", Types: []string{"step"}}, []int64{2, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			seqs, last, err := scan(t, lines, c.filter)
			require.NoError(t, err)
			require.Equal(t, c.want, seqs)
			require.Equal(t, "run.finished", last)
		})
	}
}

func TestScanSeesWhatDoesNotHold(t *testing.T) {
	whole := write(t, sample)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	other := bytes.SplitAfter(write(t, []record{{ledger.RunStarted, "", ledger.Data{"agent": "b"}}, sample[1]}), []byte("\n"))
	edit := func(old, with string) []byte { return bytes.Replace(whole, []byte(old), []byte(with), 1) }
	without := func(n int) []byte {
		return bytes.Join(append(append([][]byte{}, lines[:n-1]...), lines[n:]...), nil)
	}
	for name, c := range map[string]struct {
		ledger  []byte
		problem string
		line    int
	}{
		"an edited entry of the step": {edit("sales.example", "sales.exampla"), "was edited", 7},
		"a removed line":              {without(4), "is entry 5", 4},
		"a line of no entry":          {append(bytes.Clone(lines[0]), "hello\n"...), "is no JSON object", 2},
		"a space":                     {edit(`{"seq":2,`, `{"seq": 2,`), "canonical form", 2},
		"two lines swapped":           {bytes.Join([][]byte{lines[0], lines[2], lines[1]}, nil), "is entry 3", 2},
		"a line of another ledger":    {append(bytes.Clone(lines[0]), other[1]...), "does not follow", 2},
		"torn":                        {whole[:len(whole)-5], "is torn", 8},
		"an empty line":               {append(bytes.Clone(whole), '\n'), "is no JSON object", 9},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := scan(t, c.ledger, account.Filter{Step: "fetch"})
			var bad *account.Broken
			require.ErrorAs(t, err, &bad)
			require.Contains(t, bad.Problem, c.problem)
			require.Equal(t, c.line, bad.Line)
			require.Equal(t, name == "torn", bad.Torn)
		})
	}
}

func TestScanEndsWithItsCaller(t *testing.T) {
	_, err := account.Scan(bytes.NewReader(write(t, sample)), account.Filter{}, nil, func(verify.Entry) error { return io.ErrClosedPipe })
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// FuzzScan holds Scan to verify.Check: in a ledger that holds, both see the same entries.
func FuzzScan(f *testing.F) {
	whole := write(f, sample[4:4])
	f.Add(whole, "render")
	f.Add(write(f, []record{sample[0], sample[1], sample[3], sample[7]}), "render")
	f.Add([]byte(`{"seq":1,"time":"`), "")
	f.Fuzz(func(t *testing.T, lines []byte, step string) {
		filter := account.Filter{Step: step}
		var quick, slow []int64
		_, err := account.Scan(bytes.NewReader(lines), filter, nil, func(e verify.Entry) error {
			quick = append(quick, e.Seq)
			return nil
		})
		rep, cerr := verify.Check(bytes.NewReader(lines), verify.Options{Each: func(e verify.Entry) {
			if filter.Wants(e) {
				slow = append(slow, e.Seq)
			}
		}})
		require.NoError(t, cerr)
		if rep.State == verify.Complete {
			require.NoError(t, err)
			require.Equal(t, slow, quick)
		}
	})
}

// BenchmarkScanStep is joy ledger show --step of a step in a ledger of a million entries, on one core.
func BenchmarkScanStep(b *testing.B) {
	const entries = 1_000_000
	lines := million(b, entries)
	b.SetBytes(int64(len(lines)))
	for b.Loop() {
		n := 0
		_, err := account.Scan(bytes.NewReader(lines), account.Filter{Step: "one"}, nil, func(verify.Entry) error { n++; return nil })
		require.NoError(b, err)
		require.Equal(b, 2, n)
	}
}

// million is a ledger of n entries, of which two are of the step "one".
func million(b *testing.B, n int) []byte {
	b.Helper()
	var out bytes.Buffer
	w, err := ledger.Memory("20261124-180300-k3fq2a", plan, ledger.Options{Tee: &out})
	require.NoError(b, err)
	add := func(typ ledger.Type, step string, data ledger.Data) {
		_, err := w.Append(typ, step, data)
		require.NoError(b, err)
	}
	add(ledger.RunStarted, "", ledger.Data{"agent": "a"})
	add(ledger.StepStarted, "one", ledger.Data{"kind": "script"})
	for i := range n - 4 {
		add(ledger.CommandFinished, "many", ledger.Data{"exit": 0, "ms": i, "of": 2, "stdout": body("aaa"), "stderr": body("b")})
	}
	add(ledger.StepFinished, "one", ledger.Data{"status": "succeeded"})
	add(ledger.RunFinished, "", ledger.Data{"outcome": "succeeded"})
	require.NoError(b, w.Close())
	require.Equal(b, n, bytes.Count(out.Bytes(), []byte("\n")))
	return out.Bytes()
}
