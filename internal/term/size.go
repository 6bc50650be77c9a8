package term

import (
	"strconv"
	"strings"
)

// Size writes bytes for people: with a binary unit and at most one decimal.
func Size(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, units := float64(n), []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	unit := ""
	for size >= 1<<10 && len(units) > 0 {
		size, unit, units = size/(1<<10), units[0], units[1:]
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', 1, 64), ".0") + " " + unit
}
