package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// turnAsked is a request to a model on one line.
func turnAsked(e verify.Entry) string {
	return fmt.Sprintf("turn %s  %s/%s  %s", fieldText(e.Data["turn"]), e.String("provider"), e.String("model"), valueText("request", e.Data["request"]))
}

// stops are the ends of a reply in the words of somebody who watches.
var stops = map[string]string{"end": "answers", "tools": "asks for", "length": "is cut off", "refusal": "declines"}

// turnTold is a model's reply on one line: what it does, what that took and cost. What is the same in every turn is left to
// --full.
func turnTold(e verify.Entry) string {
	words := []string{"turn " + fieldText(e.Data["turn"])}
	switch stop := e.String("stop"); {
	case e.String("error") != "":
		words = append(words, e.String("error"))
	case stop == "tools":
		words = append(words, "asks for "+askedText(e))
	default:
		words = append(words, stops[stop])
	}
	if t, ok := e.Data["tokens"].(map[string]any); ok {
		words = append(words, tokensText(t))
	}
	if micro, ok := e.Int("cost_microdollars"); ok {
		words = append(words, fmt.Sprintf("about $%.4f", float64(micro)/1e6))
	}
	words = append(words, valueText("ms", e.Data["ms"]))
	if n, _ := e.Int("attempts"); n > 1 {
		words = append(words, fmt.Sprintf("%d attempts", n))
	}
	return strings.Join(words, "  ")
}

// askedText names the tools of a reply, equal ones that follow each other counted.
func askedText(e verify.Entry) string {
	names, _ := e.Data["asked"].([]any)
	calls, _ := e.Int("calls")
	if len(names) == 0 {
		return count(int(calls), "tool")
	}
	var parts []string
	for i := 0; i < len(names); {
		n := 1
		for i+n < len(names) && names[i+n] == names[i] {
			n++
		}
		text := fieldText(names[i])
		if n > 1 {
			text += " ×" + strconv.Itoa(n)
		}
		parts, i = append(parts, text), i+n
	}
	if rest := int(calls) - len(names); rest > 0 {
		parts = append(parts, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(parts, ", ")
}

// tokensText is how many tokens went in, with those from the provider's cache, and came out.
func tokensText(t map[string]any) string {
	n := func(key string) int64 { v, _ := t[key].(int64); return v }
	text := fmt.Sprintf("%d in", n("in")+n("cache_write"))
	if n("cache_read") > 0 {
		text += fmt.Sprintf(" +%d cached", n("cache_read"))
	}
	return text + fmt.Sprintf(", %d out", n("out"))
}
