package page

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// line is a stranger's word on one line: control characters visible, and no longer than a name may be.
func line(s string) string { return term.Line(clip(s)) }

// clip cuts a name to maxName runes.
func clip(s string) string {
	if len(s) <= maxName || utf8.RuneCountInString(s) <= maxName {
		return s
	}
	n := 0
	for i := range s {
		if n == maxName-1 {
			return strings.Clone(s[:i]) + "…"
		}
		n++
	}
	return s
}

// wholeRunes is s without the beginning of a character at its end.
func wholeRunes(s string) string {
	for back := 1; back < utf8.UTFMax && back <= len(s); back++ {
		at := len(s) - back
		if utf8.RuneStart(s[at]) {
			if !utf8.FullRuneInString(s[at:]) {
				return s[:at]
			}
			break
		}
	}
	return s
}

// took writes a length of time as a person reads it at a glance.
func took(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
}

// lasted is the time that an end says something took: its ms, else the time between the two entries.
func lasted(start verify.Entry, end *verify.Entry) string {
	if end == nil {
		return ""
	}
	if ms, ok := end.Int("ms"); ok && ms >= 0 && ms < 1<<40 {
		return took(time.Duration(ms) * time.Millisecond)
	}
	return took(end.Time.Sub(start.Time))
}

// since is the time of an entry from the run's beginning.
func since(start, t time.Time) string {
	d := max(t.Sub(start), 0)
	if d < time.Minute {
		return fmt.Sprintf("+%.3f s", d.Seconds())
	}
	return fmt.Sprintf("+%d:%06.3f", d/time.Minute, (d % time.Minute).Seconds())
}

// valueText writes any value of an entry on one line.
func valueText(key string, v any) string {
	switch v := v.(type) {
	case string:
		return line(v)
	case int64:
		switch key {
		case "ms":
			return took(time.Duration(min(v, 1<<40)) * time.Millisecond)
		case "bytes", "memory", "disk", "up", "down":
			return term.Size(v)
		}
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		parts := make([]string, 0, len(v))
		for _, x := range v {
			parts = append(parts, valueText("", x))
		}
		return clip(strings.Join(parts, ", "))
	case map[string]any:
		if n, ok := v["bytes"].(int64); ok {
			return term.Size(n)
		}
		parts := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, line(name)+" "+valueText(name, v[name]))
		}
		return clip(strings.Join(parts, ", "))
	}
	return ""
}

// counted is a number of things.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
