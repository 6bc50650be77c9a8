//go:build linux

// This is a joy-guest that a step has taken over: it does all that joy-guest does, until a step names a sabotage in
// /workspace/sabotage. Then it writes to the host what no guest may, or never says a word again.
package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guest"
)

func main() {
	if os.Getpid() == 1 && os.Args[0] != "joy-keeper" {
		go sabotage()
	}
	os.Exit(guest.Main(os.Args, os.Stderr))
}

func sabotage() {
	for ; ; time.Sleep(50 * time.Millisecond) {
		names, _ := filepath.Glob("/scratch/worlds/*/workspace/sabotage")
		for _, name := range names {
			if what, err := os.ReadFile(name); err == nil && len(what) > 0 {
				turn(strings.TrimSpace(string(what)))
			}
		}
	}
}

func turn(what string) {
	if what == "silence" {
		silence()
	}
	flood(what)
}

// silence stops joy-guest for good: it has one processor, and this goroutine keeps it without doing anything and hears
// of no signal that would take it away. The VM goes on.
func silence() {
	runtime.LockOSThread()
	all := unix.Sigset_t{}
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &all, nil)
	runtime.GOMAXPROCS(1)
	for {
		_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// flood writes to the port in the middle of whatever joy-guest is saying there.
func flood(what string) {
	port := findPort()
	block := make([]byte, 64<<10)
	switch what {
	case "garbage":
		_, _ = rand.Read(block)
	case "giant": // as a length, more than any frame may have, and then as many bytes as anybody waits for
		block = bytes.Repeat([]byte{0xff}, len(block))
	case "zeros": // no length at all
	}
	for {
		if _, err := unix.Write(port, block); err == unix.EAGAIN {
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(port), Events: unix.POLLOUT}}, -1)
		}
	}
}

// findPort is the descriptor that joy-guest speaks to the host through.
func findPort() int {
	for fd := range 100 {
		path, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if strings.Contains(path, "vport") {
			return fd
		}
	}
	return -1
}
