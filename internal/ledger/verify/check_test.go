package verify_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

var plan = "sha256:" + strings.Repeat("ab", 32)

func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + name)
	require.NoError(t, err)
	return b
}

func check(t *testing.T, b []byte) verify.Report {
	t.Helper()
	rep, err := verify.Check(bytes.NewReader(b), verify.Options{PlanDigest: plan})
	require.NoError(t, err)
	return rep
}

func TestWholeLedger(t *testing.T) {
	rep := check(t, golden(t, "finished.jsonl"))
	require.Equal(t, verify.Complete, rep.State, rep.Problem)
	require.Equal(t, "20261124-180300-k3fq2a", rep.Run)
	require.Equal(t, plan, rep.PlanDigest)
	require.EqualValues(t, 14, rep.Entries)
	require.True(t, rep.Finished)
	require.False(t, rep.Sealed)
	require.Empty(t, rep.Unknown)
	require.Equal(t, "3.25s", rep.Ended.Sub(rep.Started).String())
}

func TestWhatARunLeftOpenIsUnknown(t *testing.T) {
	rep := check(t, golden(t, "interrupted.jsonl"))
	require.Equal(t, verify.Incomplete, rep.State)
	require.Contains(t, rep.Problem, "there is no run.finished")
	require.Equal(t, []verify.Open{
		{Seq: 2, Type: "step.started", Step: "render"},
		{Seq: 4, Type: "sandbox.created", Step: "render"},
		{Seq: 6, Type: "command.started", Step: "render"},
	}, unplaced(rep.Unknown))
}

// unplaced leaves of each start what callers see.
func unplaced(open []verify.Open) (seen []verify.Open) {
	for _, o := range open {
		seen = append(seen, verify.Open{Seq: o.Seq, Type: o.Type, Step: o.Step})
	}
	return seen
}

func TestOtherPlan(t *testing.T) {
	other := "sha256:" + strings.Repeat("cd", 32)
	rep, err := verify.Check(bytes.NewReader(golden(t, "finished.jsonl")), verify.Options{PlanDigest: other})
	require.NoError(t, err)
	require.Equal(t, verify.Broken, rep.State)
	require.Contains(t, rep.Problem, "line 1 is of another plan")

	rep, err = verify.Check(bytes.NewReader(golden(t, "finished.jsonl")), verify.Options{})
	require.NoError(t, err)
	require.Equal(t, verify.Complete, rep.State)
	require.Equal(t, plan, rep.PlanDigest)
}

func TestErrorOfReadingIsNoVerdict(t *testing.T) {
	gone := errors.New("the disk is gone")
	_, err := verify.Check(iotest.ErrReader(gone), verify.Options{})
	require.ErrorIs(t, err, gone)
}

// P18: a line of 2 MB is an entry like any other; one beyond the cap is named, not swallowed.
func TestLongLines(t *testing.T) {
	long := chain(t, entry{typ: "run.started", data: `{"text":"` + strings.Repeat("x", 2<<20) + `"}`}, entry{typ: "run.finished"})
	require.Equal(t, verify.Complete, check(t, long).State)

	endless := strings.Repeat("x", verify.MaxLine+1)
	rep := check(t, append(bytes.Clone(long), endless...))
	require.Equal(t, verify.Broken, rep.State)
	require.Equal(t, "line 3 is longer than 16777216 bytes", rep.Problem)
}

func TestEntriesOutOfPlace(t *testing.T) {
	begun, ended := entry{typ: "run.started"}, entry{typ: "run.finished"}
	for name, c := range map[string]struct {
		entries []entry
		line    int
		want    string
	}{
		"not started":          {[]entry{{typ: "step.started"}}, 1, "run.started is the first entry"},
		"started twice":        {[]entry{begun, begun}, 2, "run.started is the first entry"},
		"unknown type":         {[]entry{begun, {typ: "run.exploded"}}, 2, `unknown type "run.exploded"`},
		"no run id":            {[]entry{{typ: "run.started", run: "../a"}}, 1, `is of run "../a", which is no run id`},
		"other run":            {[]entry{begun, {typ: "file.read", run: "run_b"}}, 2, `is of run "run_b"`},
		"time goes back":       {[]entry{begun, {typ: "file.read", time: "2026-11-24T18:02:59.999Z"}}, 2, "earlier than the line before"},
		"after finished":       {[]entry{begun, ended, {typ: "file.read"}}, 3, "comes after run.finished"},
		"finished twice":       {[]entry{begun, ended, ended}, 3, "comes after run.finished"},
		"sealed unfinished":    {[]entry{begun, {typ: "run.sealed"}}, 2, "has not finished"},
		"recovered after seal": {[]entry{begun, ended, {typ: "run.sealed"}, {typ: "ledger.recovered"}}, 4, "after run.sealed"},
	} {
		t.Run(name, func(t *testing.T) {
			rep := check(t, chain(t, c.entries...))
			require.Equal(t, verify.Broken, rep.State)
			require.Equal(t, c.line, rep.Line)
			require.Contains(t, rep.Problem, c.want)
		})
	}
	rep := check(t, chain(t, begun, ended, entry{typ: "ledger.recovered"}, entry{typ: "run.sealed"}))
	require.Equal(t, verify.Complete, rep.State, rep.Problem)
	require.True(t, rep.Sealed)
}

func TestPairing(t *testing.T) {
	begun := entry{typ: "run.started"}
	start := func(step string) entry { return entry{typ: "command.started", step: step} }
	end := func(step, data string) entry { return entry{typ: "command.finished", step: step, data: data} }
	for name, c := range map[string]struct {
		entries []entry
		open    []int64
	}{
		"no end":                 {[]entry{begun, start("a")}, []int64{2}},
		"end of another step":    {[]entry{begun, start("a"), end("b", "{}")}, []int64{2}},
		"end without a start":    {[]entry{begun, end("a", "{}"), start("a")}, []int64{3}},
		"oldest first":           {[]entry{begun, start("a"), start("a"), end("a", "{}")}, []int64{3}},
		"named":                  {[]entry{begun, start("a"), start("a"), end("a", `{"of":3}`)}, []int64{2}},
		"names what is not":      {[]entry{begun, start("a"), end("a", `{"of":1}`)}, []int64{2}},
		"sandbox never made":     {[]entry{begun, {typ: "sandbox.requested"}}, []int64{2}},
		"sandbox failed":         {[]entry{begun, {typ: "sandbox.requested"}, {typ: "sandbox.destroyed"}}, nil},
		"sandbox lost, alive":    {[]entry{begun, {typ: "sandbox.requested"}, {typ: "sandbox.created"}, {typ: "sandbox.lost"}}, []int64{3}},
		"sandbox lost, gone":     {[]entry{begun, {typ: "sandbox.requested"}, {typ: "sandbox.created"}, {typ: "sandbox.lost"}, {typ: "sandbox.destroyed"}}, nil},
		"sandbox by its request": {[]entry{begun, {typ: "sandbox.requested", step: "a"}, {typ: "sandbox.created", step: "a", data: `{"of":2}`}, {typ: "sandbox.destroyed", data: `{"of":2}`}}, nil},
		"many of one request":    {[]entry{begun, {typ: "sandbox.requested"}, {typ: "sandbox.created", data: `{"of":2}`}, {typ: "sandbox.created", data: `{"of":2}`}, {typ: "sandbox.destroyed", data: `{"of":2}`}}, []int64{4}},
		"denied tool":            {[]entry{begun, {typ: "tool.requested", step: "a"}, {typ: "tool.denied", step: "a"}}, []int64{2}},
		"two steps in between":   {[]entry{begun, start("a"), start("b"), end("a", "{}"), end("b", "{}")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var open []int64
			for _, o := range check(t, chain(t, c.entries...)).Unknown {
				open = append(open, o.Seq)
			}
			require.Equal(t, c.open, open)
		})
	}
}
