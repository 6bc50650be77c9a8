//go:build unix

package skills_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

func summarise(t *testing.T, log string) (worldtest.Result, *worldtest.World) {
	t.Helper()
	w := worldtest.New(t, "log-summary")
	return w.Run(t, map[string]any{"log": w.File(t, "app.log", []byte(log))}), w
}

// first is level, time and pattern of the most frequent message.
func first(t *testing.T, result worldtest.Result) []any {
	t.Helper()
	require.Equal(t, 0, result.Exit, result.Stderr)
	message := result.Value["messages"].([]any)[0].(map[string]any)
	return []any{message["level"], message["first"].(map[string]any)["time"], message["pattern"]}
}

func TestLogThatCannotBeReadFailsTheStep(t *testing.T) {
	result, _ := summarise(t, zip(t, strings.Repeat("a line\n", 5000))[:40])
	require.Equal(t, 1, result.Exit)
	require.Contains(t, result.Stderr, "its gzip stream is damaged")

	w := worldtest.New(t, "log-summary")
	for name, input := range map[string]map[string]any{"no input": nil, "no such file": {"log": "in/none"}} {
		result := w.Run(t, input)
		require.Equal(t, 1, result.Exit, name)
		require.NotContains(t, result.Stderr, "Traceback")
	}
}

func TestShapesOfALine(t *testing.T) {
	for line, want := range map[string][]any{
		"2025-11-29T17:18:01.5Z ERROR it broke":                              {"error", "2025-11-29 17:18", "ERROR it broke"},
		"2025-11-29 17:18:01,123 [main] WARN x":                              {"warning", "2025-11-29 17:18", "[main] WARN x"},
		"2025-11-29T17:18:01+02:00 info: x":                                  {"info", "2025-11-29 15:18", "info: x"},
		"2025-12-31 23:30:00 -0130 fatal: x":                                 {"fatal", "2026-01-01 01:00", "fatal: x"},
		"2024-02-29 00:00:00 DEBUG x":                                        {"debug", "2024-02-29 00:00", "DEBUG x"},
		"2025/11/29 17:18:01 [error] x":                                      {"error", "2025-11-29 17:18", "[error] x"},
		"2025-13-29T17:18:01Z INFO no such month":                            {"info", nil, "INFO no such month"},
		`time="2025-11-29T17:18:01Z" level=warning msg="hey you"`:            {"warning", "2025-11-29 17:18", "hey you"},
		"Nov  9 17:18:01 host sshd[12]: error: bad":                          {"error", "11-09 17:18", "host sshd[<n>]: error: bad"},
		`::1 - - [29/Nov/2025:17:18:01 +0100] "GET /a/7?b=1 HTTP/1.1" 503 0`: {"error", "2025-11-29 16:18", "server error: GET /a/<n>"},
		`::1 - - [29/Nov/2025:17:18:01 +0100] "POST /a HTTP/1.1" 404 -`:      {"warning", "2025-11-29 16:18", "client error: POST /a"},
		`::1 - - [29/Nov/2025:17:18:01 +0100] "-" 400 0`:                     {"unknown", "2025-11-29 16:18", `"<…>" <n> <n>`},
		"W1129 17:18:01.123456    12 a.go:3] slow":                           {"warning", "11-29 17:18", "a.go:<n>] slow"},
		`{"ts":1764436681.5,"level":"warn","msg":"slow"}`:                    {"warning", "2025-11-29 17:18", "slow"},
		`{"time":1764436681500,"severity":"ERROR","message":"x 5"}`:          {"error", "2025-11-29 17:18", "x <n>"},
		`{"time":"soon","level":3,"msg":["x"]}`:                              {"unknown", nil, `{"<…>":"<…>","<…>":<n>,"<…>":["<…>"]}`},
		`{"time":NaN,"level":null}`:                                          {"unknown", nil, `{"<…>":NaN,"<…>":null}`},
		`{"broken`:                                                           {"unknown", nil, `{"broken`},
		"no error found, no level":                                           {"unknown", nil, "no error found, no level"},
		"plain text":                                                         {"unknown", nil, "plain text"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			result, _ := summarise(t, line+"\n")
			require.Equal(t, want, first(t, result))
		})
	}
}

func TestDetailsAreMasked(t *testing.T) {
	var log strings.Builder
	for i := range 50 {
		fmt.Fprintf(&log, "user %d from 10.0.%d.7:%d id %08x-0000-4000-8000-000000000000 at 0x%x said \"%d times\" in %dms, commit %040x\n",
			i, i, 1000+i, i, i, i, i, i)
	}
	result, _ := summarise(t, log.String())
	require.EqualValues(t, 1, result.Value["patterns"])
	require.Equal(t, `user <n> from <ip> id <uuid> at <hex> said "<…>" in <n>ms, commit <hex>`, first(t, result)[2])
}

func TestLinesWithoutATimeContinueTheEntryBefore(t *testing.T) {
	result, _ := summarise(t, "starting\n2025-01-01 00:00:00 ERROR oops\n  at a.go:1\nCaused by: x\n\n2025-01-01 00:00:01 INFO fine\n")
	require.Equal(t, []any{3.0, 2.0, 6.0}, []any{result.Value["entries"], result.Value["continued"], result.Value["lines"]})
	errors := result.Value["errors"].([]any)
	require.Len(t, errors, 1)
	require.Equal(t, map[string]any{"line": 2.0, "time": "2025-01-01 00:00"}, errors[0].(map[string]any)["first"])
}

func TestRates(t *testing.T) {
	result, w := summarise(t, "2025-01-01 10:05:00 ERROR b\n2025-01-01 10:00:00 INFO a\n2025-01-01 10:00:30 INFO a\n")
	time := result.Value["time"].(map[string]any)
	require.Equal(t, map[string]any{"minute": "2025-01-01 10:00", "entries": 2.0}, time["peak"])
	require.Equal(t, map[string]any{"minutes": 4.0, "after": "2025-01-01 10:00"}, time["silence"])
	require.InDelta(t, 0.5, time["per_minute"], 1e-9)
	require.Len(t, time["buckets"], 6)
	require.Contains(t, w.Out(t, "summary.md"), "2025-01-01 10:05          1  "+strings.Repeat("!", 20)+"\n")
}

func TestCenturiesFitInTheChart(t *testing.T) {
	result, _ := summarise(t, "1970-01-01 00:00:00 INFO a\n2199-12-31 23:59:00 INFO a\n")
	require.LessOrEqual(t, len(result.Value["time"].(map[string]any)["buckets"].([]any)), 48)
}

func TestSyslogPassesNewYear(t *testing.T) {
	result, _ := summarise(t, "Dec 31 23:59:00 h a: x\nJan  1 00:01:00 h a: x\n")
	time := result.Value["time"].(map[string]any)
	require.Equal(t, []any{"12-31 23:59", "01-01 00:01"}, []any{time["first"], time["last"]})
}

func TestHostileLogIsBounded(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	result, w := summarise(t, long+"\n\x1b[2J\x00\xff \u202e `` <script>\n"+long)
	require.Equal(t, []any{3.0, 2.0}, []any{result.Value["lines"], result.Value["cut_lines"]})
	report := w.Out(t, "summary.md")
	require.NotContains(t, report, "\x1b")
	require.NotContains(t, report, "\u202e")
	require.Contains(t, report, "- 1 × unknown: ```\\x1b[<n>J\\x00\\xff \\u202e `` <script>```\n")

	var many strings.Builder
	for i := range 21_000 {
		fmt.Fprintf(&many, "message %s\n", strings.Map(func(r rune) rune { return r - '0' + 'A' }, fmt.Sprint(i)))
	}
	result, _ = summarise(t, many.String())
	require.Equal(t, []any{20_000.0, 1_000.0}, []any{result.Value["patterns"], result.Value["beyond_patterns"]})
	require.Less(t, len(result.Stdout), 64<<10)
}

func TestSummaryOfNothing(t *testing.T) {
	result, w := summarise(t, "")
	require.Nil(t, result.Value["time"])
	require.Contains(t, w.Out(t, "summary.md"), "0 entries in 0 lines")
}

func TestSummaryIsTheSameEachTime(t *testing.T) {
	var log strings.Builder
	for i := range 500 {
		fmt.Fprintf(&log, "2025-01-01 %02d:%02d:00 %s %c\n", i%24, i%60, []string{"INFO", "ERROR"}[i%2], 'a'+rune(i%7))
	}
	first, w := summarise(t, log.String())
	again, w2 := summarise(t, zip(t, log.String()))
	require.Equal(t, first.Stdout, again.Stdout)
	require.Equal(t, w.Out(t, "summary.md"), w2.Out(t, "summary.md"))
	require.Equal(t, w.Out(t, "summary.json"), w2.Out(t, "summary.json"))
}
