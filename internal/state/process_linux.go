package state

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// startOf is field 22 of /proc/PID/stat (proc_pid_stat(5)): clock ticks after boot. Field 2 is the command's name in
// parentheses and may hold anything, so counting begins after the last one.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19])
}

func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without /proc there is nothing to compare
	return strings.TrimSpace(string(id))
}

// running is false for a zombie: it has a stat file until its parent looks, but nothing of it runs.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 0 && !bytes.Equal(fields[0], []byte("Z")) && !bytes.Equal(fields[0], []byte("X"))
}
