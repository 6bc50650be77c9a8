//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// turnsMemory bounds what 140 more turns may add to joy's memory, in KiB. The conversation, which is held for the next request, grows
// by 0.2 MiB in them, and a request has all of it.
const turnsMemory = 16 << 10

// BenchmarkModelLoop is what the loop itself costs: joy's own processor time for a turn, and its memory over many. The model is a
// scripted server that asks for a file of the skill, 1 KiB, in every turn, so nothing waits but the disk. A run of fewer turns is
// taken from one of more, so that starting joy is not counted. Each turn sends and keeps the whole conversation, as the APIs
// want it, and encodes and scrubs what is new in it: the bar holds for the first 60 turns, three times what a step has by default, and for
// later ones.
func BenchmarkModelLoop(b *testing.B) {
	var first, later time.Duration
	var grown int64
	for b.Loop() {
		start, _ := turns(b, 10)
		usual, before := turns(b, 60)
		long, after := turns(b, 200)
		first += (usual - start) / 50
		later += (long - usual) / 140
		grown += after - before
	}
	n := time.Duration(b.N)
	b.ReportMetric(float64((first/n).Microseconds())/1000, "cpu-ms/turn")
	b.ReportMetric(float64((later/n).Microseconds())/1000, "cpu-ms/turn-60-to-200")
	b.ReportMetric(float64(grown)/float64(b.N)/1024, "MiB-more-after-140-turns")
	require.LessOrEqual(b, first/n, 5*time.Millisecond, "the bar for a turn")
	require.LessOrEqual(b, later/n, 5*time.Millisecond, "the bar for a later turn")
	require.LessOrEqual(b, grown/int64(b.N), int64(turnsMemory), "KiB: memory is flat but for the conversation itself")
}

// turns runs an agent whose model takes n turns, and says what it cost joy: processor time, and the most memory in KiB.
func turns(t testing.TB, n int) (cpu time.Duration, rss int64) {
	t.Helper()
	s := modeltest.Anthropic(t, func(i int, _ modeltest.Request) modeltest.Reply {
		if i < n-1 {
			return modeltest.Reply{Calls: []modeltest.Call{call("read_skill", map[string]any{"path": "notes.md"})}}
		}
		return titled
	})
	b := newProject(t, map[string]string{
		"skills/title/SKILL.md": titleSkill,
		"skills/title/notes.md": strings.Repeat("A title has a verb.\n", 50),
		"joy.yaml": fmt.Sprintf("version: 1\nname: words\nimage: tiny\nskills: [skills/title]\n"+
			"steps: [{id: title, skill: title}]\nmodel: {provider: anthropic, name: test-1, key: \"secret:vendor\", base_url: %q, max_turns: %d, max_tokens: 10000000}\n", s.URL, n),
	})
	b.env = append(b.env, "JOY_SECRET_VENDOR="+modeltest.Key)
	b.allow()
	out, err := b.command("build").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := b.command("run", "-q", "--jsonl")
	cpu, rss = measured(t, cmd)
	require.True(t, cmd.ProcessState.Success())
	require.Len(t, s.Requests(), n)
	return cpu, rss
}
