package microvm

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// clockWords has an emulated guest's kernel take the time from the CPU's counter, which QEMU makes of the host's and keeps
// from going backwards. By itself the kernel distrusts it on this CPU model and takes the HPET, a device that QEMU has to
// be left for each time anything asks for the time (docs/adr/0041-what-a-start-and-a-file-cost.md). It is told the rate too:
// measuring it goes wrong on a busy host. "" leaves the kernel to itself: the host's counter is not steady, or its rate is
// not known.
func clockWords(host map[string]string) string {
	flags := strings.Fields(host["flags"])
	if !slices.Contains(flags, "constant_tsc") || !slices.Contains(flags, "nonstop_tsc") {
		return ""
	}
	// With such a counter the kernel does not measure BogoMIPS: it is twice the counter's rate in MHz (calibrate_delay in
	// Linux's init/calibrate.c).
	rate, err := strconv.ParseFloat(host["bogomips"], 64)
	if khz := rate * 1000 / 2; err == nil && khz > 1e5 && khz < 1e7 {
		return fmt.Sprintf(" tsc=reliable tsc_early_khz=%.0f", khz)
	}
	return ""
}

// hostCPU is what /proc/cpuinfo says of the host's first CPU.
func hostCPU() (map[string]string, error) {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readCPU(io.LimitReader(f, 64<<10)), nil
}

func readCPU(from io.Reader) map[string]string {
	cpu := map[string]string{}
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadString('\n')
		if name, value, ok := strings.Cut(line, ":"); ok {
			cpu[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
		if err != nil || line == "\n" {
			return cpu
		}
	}
}
