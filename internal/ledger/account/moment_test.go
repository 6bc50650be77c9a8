package account_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/account"
)

var parallel = []record{
	{ledger.RunStarted, "", ledger.Data{"agent": "a"}},                                // 18:03:00
	{ledger.RunWaiting, "", ledger.Data{"reason": "no room"}},                         // :01
	{ledger.RunResumed, "", ledger.Data{"ms": 1000}},                                  // :02
	{ledger.StepStarted, "a", ledger.Data{"kind": "script"}},                          // :03
	{ledger.StepStarted, "b", ledger.Data{"kind": "action"}},                          // :04
	{ledger.ToolRequested, "b", ledger.Data{"action": "x.y", "arguments": body("{")}}, // :05
	{ledger.CommandStarted, "a", ledger.Data{"command": "true", "bytes": 4}},          // :06
	{ledger.ToolReturned, "b", ledger.Data{"of": 6, "action": "x.y", "ms": 1}},        // :07
	{ledger.StepFinished, "b", ledger.Data{"status": "succeeded"}},                    // :08
	{ledger.CommandStarted, "a", ledger.Data{"command": "false", "bytes": 5}},         // :09
}

func TestMoment(t *testing.T) {
	lines := write(t, parallel)
	for name, c := range map[string]struct {
		from, to int // seconds after the beginning
		open     []string
		during   int
	}{
		"before it all":    {-5, -4, nil, 0},
		"while it waits":   {1, 1, []string{"run → 3"}, 1},
		"as the wait ends": {2, 2, []string{"run → 3"}, 1},
		"two steps":        {5, 5, []string{"step a …", "step b → 9", "tool b → 8"}, 1},
		"after a step":     {9, 9, []string{"step a …", "command a …", "command a …"}, 1},
		"long after":       {60, 61, []string{"step a …", "command a …", "command a …"}, 0},
		"all of it":        {0, 59, []string{"run → 3", "step a …", "step b → 9", "tool b → 8", "command a …", "command a …"}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
			m := account.Moment{When: account.When{From: at(c.from), To: at(c.to)}}
			each(t, lines, m.Add)
			var open []string
			for _, act := range m.Open() {
				text := act.What
				if act.Start.Step != "" {
					text += " " + act.Start.Step
				}
				if act.End != nil {
					text = fmt.Sprintf("%s → %d", text, act.End.Seq)
				} else {
					text += " …"
				}
				open = append(open, text)
			}
			require.Equal(t, c.open, open)
			require.Len(t, m.During, c.during)
		})
	}
}

func TestEnds(t *testing.T) {
	lines := write(t, sample) // one line of it has 2 MiB
	upTo := func(n int) []byte { return bytes.Join(bytes.SplitAfter(lines, []byte("\n"))[:n], nil) }
	for name, c := range map[string]struct {
		ledger []byte
		last   int64
		err    string
	}{
		"whole":            {lines, 8, ""},
		"one line":         {upTo(1), 1, ""},
		"a long last line": {upTo(3), 3, ""},
		"a torn tail":      {append(upTo(4), `{"seq":5`...), 4, ""},
		"empty":            {nil, 0, "it is empty"},
		"torn at once":     {[]byte(`{"seq":1`), 0, "is torn"},
		"no entry":         {[]byte("hello\n"), 0, "no JSON object"},
		"no entry at last": {append(upTo(1), "hello\n"...), 0, "no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			first, last, err := account.Ends(bytes.NewReader(c.ledger))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, [2]int64{1, c.last}, [2]int64{first.Seq, last.Seq})
		})
	}
}
