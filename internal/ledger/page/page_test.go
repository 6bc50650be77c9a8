package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/page"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
)

// between is what a page has between two words.
func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	require.True(t, ok, "no %q", from)
	part, _, ok := strings.Cut(rest, to)
	require.True(t, ok, "no %q after %q", to, from)
	return part
}

// has holds that a page has some words, without printing all of it.
func has(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		require.Fail(t, "not in the page", "%q", want)
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// words is a piece of the page as a reader has it.
func words(part string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(part, " "))), " ")
}

func TestWhatAPageTells(t *testing.T) {
	s := failedRun(t, "")
	text := s.page(withPlan(s))
	part := func(id string) string { return words(between(t, text, `id="`+id+`"`, "</section>")) }
	head := words(between(t, text, `<header class="mast">`, "</header>"))
	for _, want := range []string{
		"weekly-report", "Failed in step render after 9.0 s", "failure_kind: agent", "python3 ended with exit 3",
		"Tue 24 Nov 2026, 19:03:00 CET", "2026-11-24 18:03:00.000 UTC", runName,
	} {
		has(t, head, want)
	}
	for _, want := range []string{
		planDigest, "microvm · hardware · kvm · snapshot", "2 CPUs · 1 GiB memory · 4 GiB disk", "Ledger incomplete", "chain only", `"week": 48`,
	} {
		has(t, part("about"), want)
	}
	for _, want := range []string{
		"Network denied fetch telemetry.example.net:443", "Step failed render python3 ended with exit 3", "Call failed render chart.draw",
		"Approval denied render mail.send", "Command failed render", "Artifact withheld render dump.sqlite",
	} {
		has(t, part("trouble"), want)
	}
	for _, want := range []string{"Waiting for room", "boot 1.2 s; destroyed", "fetch succeeded", "render failed", "post skipped"} {
		has(t, part("timeline"), want)
	}
	require.Equal(t, 2, strings.Count(between(t, text, `class="graph"`, "</svg>"), `class="edge"`))
	has(t, part("network"), "telemetry.example.net 443 denied 1 the plan grants no such host")
	has(t, part("network"), "orders.example.com 443 allowed 1 2.3 KiB 926 KiB")
	has(t, text, "# Renders &lt;b&gt;the&lt;/b&gt; orders.") // the script, as it ran
}

func TestThePolicyNamesWhatIsInThePage(t *testing.T) {
	text := failedRun(t, "").page(nil)
	policy := html.UnescapeString(between(t, text, `http-equiv="Content-Security-Policy" content="`, `"`))
	for _, tag := range []string{"style", "script"} {
		sum := sha256.Sum256([]byte(between(t, text, "<"+tag+">", "</"+tag+">")))
		has(t, policy, tag+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		require.Equal(t, 1, strings.Count(text, "<"+tag), tag)
	}
	require.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
	require.NotContains(t, policy, "unsafe")
	has(t, policy, "base-uri 'none'; form-action 'none'")
}

func TestWhatIsNotShown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*told, *page.Record)
		want   string
		never  string
	}{
		"nothing beside the ledger": {func(_ *told, r *page.Record) { r.Output, r.Object = nil, nil }, "not kept here", "KeyError"},
		"bodies that were removed": {func(_ *told, r *page.Record) {
			r.Output, r.Object, r.Gone = nil, nil, "ada removed them"
		}, "removed: ada removed them", "KeyError"},
		"a log that was changed": {func(s *told, _ *page.Record) {
			s.logs["render.2.stderr"] = []byte("all is well\n")
		}, "it was changed since", "all is well"},
		"an object that was changed": {func(s *told, _ *page.Record) {
			for sum := range s.objects {
				s.objects[sum] = []byte("all is well\n")
			}
		}, "it was changed since", "all is well"},
		"what cannot be read": {func(_ *told, r *page.Record) {
			r.Output = func(string, int, string) (io.ReadCloser, error) {
				return nil, fmt.Errorf("a\x1b[2Jdisk: %w", fs.ErrPermission)
			}
		}, `cannot be read: a\x1b[2Jdisk: permission denied`, "KeyError"},
		"another plan": {func(_ *told, r *page.Record) {
			r.Plan = &plan.Plan{Digest: "sha256:ff", Steps: []plan.Step{{ID: "unheard-of"}}}
		}, "", "unheard-of"},
		"a broken chain": {func(_ *told, r *page.Record) {
			r.Verdict.State, r.Verdict.Line, r.Verdict.Problem = verify.Broken, 42, "line 42 was edited"
		}, "broken at line 42", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := failedRun(t, "")
			text := s.page(func(r *page.Record) { c.change(s, r) })
			has(t, html.UnescapeString(text), c.want)
			require.False(t, c.never != "" && strings.Contains(text, c.never), "it tells %q", c.never)
		})
	}
}

// TestNoEnd holds that what has no end is called unknown, and never a success.
func TestNoEnd(t *testing.T) {
	s := tell(t)
	s.add(0, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	s.add(1, ledger.RunWaiting, "", ledger.Data{"reason": "busy"})
	s.add(1, ledger.StepStarted, "a", ledger.Data{"kind": "script", "vm": true})
	s.add(1, ledger.SandboxRequested, "a", ledger.Data{"provider": "microvm"})
	s.add(1, ledger.CommandStarted, "a", ledger.Data{"command": "sleep 1", "bytes": 7})
	text := s.page(nil)
	has(t, words(text), "No end on record")
	has(t, words(text), "Command without end a sleep 1")
	has(t, words(text), "outcome unknown")
	has(t, words(text), "its end is not on record")
	require.NotContains(t, words(between(t, text, `<main>`, `id="steps"`)), "succeeded")
	text = s.page(func(r *page.Record) { r.Live = true })
	has(t, words(text), "Still going on")
}

// TestInterrupted holds that who stops a run is not told that its code failed.
func TestInterrupted(t *testing.T) {
	s := tell(t)
	s.add(0, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	s.add(1, ledger.StepStarted, "a", ledger.Data{"kind": "script"})
	stopped := ledger.Data{"failure_kind": "agent", "error": "interrupted", "ms": 9, "status": "failed"}
	s.add(9, ledger.StepFinished, "a", stopped)
	s.add(1, ledger.RunFinished, "", ledger.Data{"outcome": "interrupted", "failure_kind": "agent", "error": "interrupted", "step": "a"})
	text := words(s.page(nil))
	has(t, text, "Interrupted in step a")
	require.NotContains(t, text, "failure_kind")
}

func TestAPageOfALedgerOfOneLine(t *testing.T) {
	s := tell(t)
	s.add(0, ledger.RunStarted, "", ledger.Data{})
	s.at = s.at.Add(time.Hour)
	has(t, words(s.page(nil)), "a run without a name")
}

// TestAModelsTurns holds that each turn is told with its bytes, and one that failed as a failure.
func TestAModelsTurns(t *testing.T) {
	s := tell(t)
	s.add(0, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	ask := func(turn int) int64 {
		return s.add(1, ledger.ModelRequested, "tell", ledger.Data{"turn": turn, "provider": "anthropic", "model": "m-1", "request": s.body(`{"say":"hello"}`)})
	}
	s.add(900, ledger.ModelReplied, "tell", ledger.Data{
		"of": ask(1), "turn": 1, "ms": 900, "response": s.body(`{"text":"good day"}`), "tokens": ledger.Data{"in": 12, "out": 3},
	})
	s.add(1, ledger.FileWritten, "tell", ledger.Data{"path": "/workspace/out/a.md", "bytes": 9, "sha256": planDigest})
	talk := `{"messages":[{"role":"assistant","content":"a while ago"},{"role":"tool","content":"the <b>table</b>"}]}`
	third := s.add(1, ledger.ModelRequested, "tell", ledger.Data{"turn": 2, "request": s.body(talk)})
	s.add(9, ledger.ModelReplied, "tell", ledger.Data{
		"of": third, "turn": 2, "ms": 9, "stop": "tools", "calls": 1, "asked": []any{"write_file"},
		"response": s.body("data: {\"choices\":[{\"delta\":{\"content\":\"I write\\u001b[2J it.\",\"tool_calls\":[{\"function\":{\"name\":\"write_file\",\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]\n"),
	})
	s.add(700, ledger.ModelReplied, "tell", ledger.Data{"of": ask(3), "turn": 3, "ms": 700, "error": "the model is overloaded"})
	text := s.page(nil)
	steps := words(between(t, text, `<div class="items">`, "</article>"))
	for _, want := range []string{
		"Model anthropic m-1, turn 1 900 ms", `"say": "hello"`, `"text": "good day"`, "tokens in 12, out 3", "File written /workspace/out/a.md",
		"Model anthropic m-1, turn 3 failed 700 ms", "the model is overloaded",
		"turn 2 asks for write_file 9 ms", "[tool] the <b>table</b>", "I write\\x1b[2J it. → write_file {}",
	} {
		has(t, steps, want)
	}
	has(t, words(between(t, text, `id="trouble"`, "</section>")), "Model failed tell anthropic m-1, turn 3")
	require.NotContains(t, text, "a while ago", "what the turn before has is not said again")
}
