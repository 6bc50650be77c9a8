package ledger_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

func check(t *testing.T, b []byte) verify.Report {
	t.Helper()
	rep, err := verify.Check(bytes.NewReader(b), verify.Options{PlanDigest: plan})
	require.NoError(t, err)
	return rep
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ dir, run, plan string }{
		"no directory":   {filepath.Join(dir, "missing"), "r", plan},
		"no run":         {dir, "", plan},
		"run with slash": {dir, "../r", plan},
		"long run":       {dir, strings.Repeat("r", 65), plan},
		"no plan":        {dir, "r", ""},
		"bare hex":       {dir, "r", strings.Repeat("ab", 32)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ledger.Create(c.dir, c.run, c.plan, ledger.Options{})
			require.Error(t, err)
		})
	}
	require.NoFileExists(t, filepath.Join(dir, ledger.FileName))
}

func TestOneLedgerHasOneWriter(t *testing.T) {
	dir := t.TempDir()
	w, err := ledger.Create(dir, "r", plan, ledger.Options{})
	require.NoError(t, err)
	_, err = w.Effect(ledger.RunStarted, "", nil)
	require.NoError(t, err)

	_, err = ledger.Create(dir, "r", plan, ledger.Options{})
	require.ErrorIs(t, err, os.ErrExist)
	_, err = ledger.Reopen(dir, "r", plan, ledger.Options{})
	require.ErrorContains(t, err, "another process writes it")

	require.NoError(t, w.Close())
	w, err = ledger.Reopen(dir, "r", plan, ledger.Options{})
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

func TestOrderOfTypes(t *testing.T) {
	for name, c := range map[string]struct {
		first []ledger.Type
		then  ledger.Type
		want  string
	}{
		"unknown":                {[]ledger.Type{"run.started"}, "run.exploded", "unknown type"},
		"not started":            {nil, "step.started", "the first entry is run.started"},
		"started twice":          {[]ledger.Type{"run.started"}, "run.started", "started already"},
		"sealed before finished": {[]ledger.Type{"run.started"}, "run.sealed", "only a finished run"},
		"after finished":         {[]ledger.Type{"run.started", "run.finished"}, "file.read", "has finished"},
		"after sealed":           {[]ledger.Type{"run.started", "run.finished", "run.sealed"}, "ledger.recovered", "is sealed"},
		"finished twice":         {[]ledger.Type{"run.started", "run.finished"}, "run.finished", "has finished"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := ledger.Memory("r", plan, ledger.Options{})
			require.NoError(t, err)
			for _, typ := range c.first {
				_, err := w.Append(typ, "", nil)
				require.NoError(t, err)
			}
			_, err = w.Append(c.then, "", nil)
			require.ErrorContains(t, err, c.want)
			require.NoError(t, w.Close())
		})
	}
}

func TestAfterCloseNothingIsRecorded(t *testing.T) {
	w, err := ledger.Create(t.TempDir(), "r", plan, ledger.Options{})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = w.Append(ledger.RunStarted, "", nil)
	require.ErrorIs(t, err, ledger.ErrClosed)
	_, err = w.Effect(ledger.RunStarted, "", nil)
	require.ErrorIs(t, err, ledger.ErrClosed)
	require.NoError(t, w.Close())
}

func TestTimeNeverGoesBack(t *testing.T) {
	times := []time.Time{noon, noon.Add(time.Hour), noon, noon.Add(2 * time.Hour).Add(999999)}
	var out bytes.Buffer
	w, err := ledger.Memory("r", plan, ledger.Options{Tee: &out, Now: func() time.Time {
		at := times[0]
		times = times[1:]
		return at.In(time.FixedZone("", 3600))
	}})
	require.NoError(t, err)
	for _, typ := range []ledger.Type{ledger.RunStarted, ledger.RunWaiting, ledger.RunResumed, ledger.RunFinished} {
		_, err := w.Append(typ, "", nil)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	var got []string
	require.NoError(t, verify.Read(&out, func(e verify.Entry) error {
		got = append(got, e.Time.Format(time.RFC3339Nano))
		return nil
	}))
	require.Equal(t, []string{"2026-11-24T18:03:00Z", "2026-11-24T19:03:00Z", "2026-11-24T19:03:00Z", "2026-11-24T20:03:00Z"}, got)
}

func TestConcurrentWritersMakeOneChain(t *testing.T) {
	dir := t.TempDir()
	var teed bytes.Buffer
	w, err := ledger.Create(dir, "r", plan, ledger.Options{Tee: &teed})
	require.NoError(t, err)
	_, err = w.Effect(ledger.RunStarted, "", nil)
	require.NoError(t, err)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for j := range 20 {
				record := w.Append
				if j%5 == 0 {
					record = w.Effect
				}
				if _, err := record(ledger.FileRead, "step", ledger.Data{"i": i, "j": j}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	seq, err := w.Append(ledger.RunFinished, "", nil)
	require.NoError(t, err)
	require.NoError(t, w.Close())

	b, err := os.ReadFile(filepath.Join(dir, ledger.FileName))
	require.NoError(t, err)
	rep := check(t, b)
	require.Equal(t, verify.Complete, rep.State, rep.Problem)
	require.EqualValues(t, 16*20+2, rep.Entries)
	require.Equal(t, seq, rep.Entries)
	require.Equal(t, string(b), teed.String())
}

func TestTeeThatIsStuckOrGoneHoldsNothingUp(t *testing.T) {
	r, pipe := io.Pipe() // nobody reads: the first line blocks
	w, err := ledger.Create(t.TempDir(), "r", plan, ledger.Options{Tee: pipe})
	require.NoError(t, err)
	_, err = w.Effect(ledger.RunStarted, "", nil)
	require.NoError(t, err)
	_, err = w.Effect(ledger.RunFinished, "", nil)
	require.NoError(t, err)

	gone := errors.New("the pager was closed")
	require.NoError(t, r.CloseWithError(gone))
	require.NoError(t, w.Close())
}

func TestVerifierKnowsTheSameLedger(t *testing.T) {
	require.Equal(t, ledger.MaxLine, verify.MaxLine)
	require.Equal(t, ledger.MaxDepth, verify.MaxDepth)
}

func BenchmarkAppend(b *testing.B) {
	w, err := ledger.Create(b.TempDir(), "r", plan, ledger.Options{})
	require.NoError(b, err)
	_, err = w.Append(ledger.RunStarted, "", nil)
	require.NoError(b, err)
	for b.Loop() {
		if _, err := w.Append(ledger.CommandFinished, "render", ledger.Data{"exit": 0, "stdout_bytes": 2048}); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, w.Close())
}

func BenchmarkEffect(b *testing.B) {
	w, err := ledger.Create(b.TempDir(), "r", plan, ledger.Options{})
	require.NoError(b, err)
	_, err = w.Append(ledger.RunStarted, "", nil)
	require.NoError(b, err)
	b.SetParallelism(8)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := w.Effect(ledger.CommandStarted, "render", ledger.Data{"text": "true"}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	require.NoError(b, w.Close())
}
