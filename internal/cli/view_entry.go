package cli

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// leads are the members that say most about an entry; they come first, without their names.
var leads = map[string][]string{
	"run.started":          {"agent", "trigger", "provider"},
	"run.waiting":          {"reason"},
	"run.finished":         {"outcome", "error"},
	"step.started":         {"kind", "skill", "action"},
	"step.finished":        {"status", "error"},
	"step.skipped":         {"reason"},
	"sandbox.requested":    {"provider"},
	"sandbox.created":      {"provider", "isolation", "accelerator", "start", "start_reason", "ms", "reduced"},
	"sandbox.lost":         {"reason"},
	"command.started":      {"command"},
	"command.finished":     {"exit", "ended_by", "signal", "reason"},
	"model.requested":      {"provider", "model"},
	"model.replied":        {"stop", "model", "error"},
	"tool.requested":       {"action"},
	"tool.returned":        {"action", "error"},
	"tool.denied":          {"action", "reason"},
	"tool.drifted":         {"action"},
	"egress.allowed":       {"host", "port"},
	"egress.closed":        {"host"},
	"egress.denied":        {"host", "port", "to", "reason"},
	"file.read":            {"path"},
	"file.written":         {"path"},
	"artifact.stored":      {"name"},
	"artifact.skipped":     {"name", "count", "reason"},
	"artifact.quarantined": {"name", "secret", "rule", "reason"},
	"scrub.found":          {"secret", "rule", "in"},
	"approval.requested":   {"action", "destination"},
	"approval.granted":     {"action", "by"},
	"approval.denied":      {"action", "reason"},
}

// quiet members are for programs and --full: they say nothing to somebody who reads down a page.
var quiet = []string{"of", "key", "actor", "bundle", "workspace", "steps", "expires", "tool", "digest", "approval", "guest", "joy"}

// phrase is an entry's data on one line: leads first, then the rest as name=value, digests shortened.
func phrase(e verify.Entry) string {
	if _, turn := e.Int("turn"); turn && e.Type == "model.requested" {
		return turnAsked(e)
	} else if turn && e.Type == "model.replied" {
		return turnTold(e)
	}
	var words []string
	first := leads[e.Type]
	for _, key := range first {
		if value, ok := e.Data[key]; ok && value != "" && (key != "to" || value != "host") { // the host itself stands before it
			words = append(words, leadText(key, value))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.Data)) {
		if slices.Contains(first, key) || slices.Contains(quiet, key) || key == "failed" && e.Data[key] == false {
			continue
		}
		words = append(words, restText(key, e.Data[key]))
	}
	return strings.Join(words, "  ")
}

func leadText(key string, value any) string {
	text := valueText(key, value)
	switch key {
	case "exit":
		return "exit " + text
	case "port":
		return "port " + text
	case "count":
		return text + " more"
	}
	return text
}

func restText(key string, value any) string {
	if key == "ms" || key == "bytes" {
		return valueText(key, value)
	}
	return key + "=" + valueText(key, value)
}

var longDigest = regexp.MustCompile(`sha256:([0-9a-f]{12})[0-9a-f]{52}`)

// valueText writes a value for people: durations and sizes with their units. A person compares the first digits of
// digests; --full has them all.
func valueText(key string, value any) string {
	if n, ok := value.(int64); ok {
		switch key {
		case "ms":
			return (time.Duration(n) * time.Millisecond).String()
		case "bytes", "memory", "disk", "up", "down":
			return term.Size(n)
		}
	}
	if m, ok := value.(map[string]any); ok {
		if n, ok := m["bytes"].(int64); ok { // a body: its size says enough
			return term.Size(n)
		}
	}
	return bareDigests(clipped(fieldText(value)))
}

// bareDigests leaves of each digest its first twelve digits.
func bareDigests(text string) string {
	if !strings.Contains(text, "sha256:") {
		return text
	}
	return longDigest.ReplaceAllString(text, "$1…")
}

// maxPhrase is how much of a value, in bytes, is told on a line. A value may have 16 MiB.
const maxPhrase = 32 << 10

func clipped(text string) string {
	if len(text) <= maxPhrase {
		return text
	}
	return text[:wholeRunes([]byte(text[:maxPhrase]))] + "… (" + term.Size(int64(len(text))) + ": --full has it)"
}
