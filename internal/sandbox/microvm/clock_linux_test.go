package microvm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClockWords(t *testing.T) {
	const steady = "flags\t\t: fpu tsc constant_tsc nonstop_tsc\n"
	for name, c := range map[string]struct{ cpuinfo, want string }{
		"steady":              {"processor\t: 0\n" + steady + "bogomips\t: 4599.99\n\nprocessor\t: 1\nbogomips\t: 9.00\n", " tsc=reliable tsc_early_khz=2299995"},
		"no line end":         {steady + "bogomips : 5000.00", " tsc=reliable tsc_early_khz=2500000"},
		"stops in idle":       {"flags : tsc constant_tsc\nbogomips : 4599.99\n", ""},
		"follows the CPU":     {"flags : tsc nonstop_tsc\nbogomips : 4599.99\n", ""},
		"no rate":             {steady, ""},
		"a rate of words":     {steady + "bogomips : fast\n", ""},
		"no CPU is so slow":   {steady + "bogomips : 3.14\n", ""},
		"no CPU is so fast":   {steady + "bogomips : 1e300\n", ""},
		"not a number at all": {steady + "bogomips : NaN\n", ""},
		"the next CPU's rate": {steady + "\nbogomips : 4599.99\n", ""},
		"nothing":             {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, clockWords(readCPU(strings.NewReader(c.cpuinfo))))
		})
	}
}
