package page_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// colours are those that the style names, by scheme.
func colours(t *testing.T) map[string]map[string]string {
	t.Helper()
	css, err := os.ReadFile("page.css")
	require.NoError(t, err)
	light, rest, found := strings.Cut(string(css), "@media (prefers-color-scheme: dark) {")
	require.True(t, found)
	dark, _, _ := strings.Cut(rest, "}")
	schemes := map[string]map[string]string{"light": {}, "dark": {}}
	for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(light, -1) {
		schemes["light"][m[1]], schemes["dark"][m[1]] = m[2], m[2]
	}
	for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(dark, -1) {
		schemes["dark"][m[1]] = m[2]
	}
	return schemes
}

// luminance is that of WCAG 2.2 (https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	require.NoError(t, err, "no such colour: %q", colour)
	part := func(shift int) float64 {
		v := float64(n>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast holds level AA in both schemes: 4.5 for text (1.4.3), and 3 for what must be told apart to be understood
// (1.4.11). What a step's and a VM's bars say stands beside them in words, and their outline is held to 3.
func TestContrast(t *testing.T) {
	require.InDelta(t, 21, contrast(t, "#000000", "#ffffff"), 0.001)
	text := map[string][]string{
		"ink":     {"paper", "sunk", "ok-bg", "fail-bg", "warn-bg", "unknown-bg"},
		"soft":    {"paper", "sunk", "ok-bg", "fail-bg", "warn-bg", "unknown-bg"},
		"link":    {"paper", "sunk", "warn-bg"},
		"ok":      {"paper", "sunk", "ok-bg", "warn-bg"},
		"fail":    {"paper", "sunk", "fail-bg", "warn-bg"},
		"warn":    {"paper", "sunk", "warn-bg"},
		"unknown": {"paper", "sunk", "unknown-bg", "warn-bg"},
	}
	drawn := map[string][]string{
		"command": {"paper", "step", "step-bad"}, "call": {"paper", "step", "step-bad"}, "net": {"paper", "step", "step-bad"},
		"wait": {"paper", "step", "step-bad"}, "fail": {"paper", "step", "step-bad"}, "boot": {"paper"}, "soft": {"paper"},
	}
	for scheme, of := range colours(t) {
		for least, pairs := range map[float64]map[string][]string{4.5: text, 3: drawn} {
			for front, backs := range pairs {
				for _, back := range backs {
					require.GreaterOrEqual(t, contrast(t, of[front], of[back]), least, "%s: %s on %s", scheme, front, back)
				}
			}
		}
	}
}
