package guest

import (
	"bytes"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// inspectHosted adds what only a VM that is somebody else's has to say: whose kernel it is, and what this container of it
// may use.
func inspectHosted(boot *guestproto.Boot) {
	boot.BootID = bootID()
	boot.GVisor = onGVisor()
	if most, err := readNumber(dirCgroup + "/memory.max"); err == nil {
		boot.Memory = min(boot.Memory, int64(most))
	}
}

// bootID is the kernel's, or "" where it has none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// boottime is how long the kernel has been up, in nanoseconds. No file tells it, which one could lay another over.
func boottime() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return now.Nano()
}

// onGVisor says whether the kernel is gVisor's, by the first line of its log
// (https://github.com/google/gvisor/blob/master/pkg/sentry/kernel/syslog.go).
func onGVisor() bool {
	log := make([]byte, 64<<10)
	n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, log)
	return err == nil && bytes.Contains(log[:n], []byte("Starting gVisor..."))
}
