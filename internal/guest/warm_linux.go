package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// warmWord on the kernel's command line says that this guest will be saved as a snapshot as soon as it is ready.
const warmWord = "joy.warm=1"

// warmLimit bounds each program, under an emulated CPU on a busy host.
const warmLimit = 30 * time.Second

// warmups are the image's own programs whose files a guest has in memory when it is saved: a run finds them there
// instead of reading, unpacking and looking them up. What an image lacks is not warmed.
var warmups = [][]string{
	{"/bin/sh", "-c", "exit 0"},
	{"/bin/bash", "-c", "exit 0"},
	{"/bin/true"},
	{"/usr/bin/python3", "-c", "import argparse,collections,csv,datetime,hashlib,json,os,pathlib,re,subprocess,sys"},
}

// firstKeeper is the keeper of a restored guest's first world, started before the guest was saved.
var firstKeeper atomic.Pointer[keeperProcess]

// warm does ahead what each run would have to do, and nothing that could differ between two runs. Whatever of it fails
// is done later, as in a guest that has not been warmed.
func warm() {
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil || !slices.Contains(strings.Fields(string(line)), warmWord) {
		return
	}
	for _, argv := range warmups {
		warmProgram(argv)
	}
	rehearse()
	// Mounts that are made later, such as that of the scratch disk, must reach a keeper that is there already.
	if err := unix.Mount("", "/", "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		return
	}
	k, err := startKeeper()
	if err != nil {
		return
	}
	if _, err := await(func() (string, bool) { return "", hasDoor(k.cmd.Process.Pid) }); err != nil {
		_ = k.Close()
		return
	}
	firstKeeper.Store(k)
}

// warmProgram runs one in the image, which is read-only, with nothing else mounted.
func warmProgram(argv []string) {
	ctx, cancel := context.WithTimeout(context.Background(), warmLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/root"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dirImage}
	_ = cmd.Run()
}

// rehearse has encoding/json look at the types of the protocol, which it does once for each.
func rehearse() {
	request := guestproto.Request{
		Start: &guestproto.Start{Entropy: []byte{0}}, Open: &guestproto.Open{Env: map[string]string{"": ""}, ReadOnly: []string{""}},
		Run: &guestproto.Run{}, Put: &guestproto.Put{}, Collect: &guestproto.Collect{},
	}
	for _, v := range []any{&request, &guestproto.Reply{Boot: &guestproto.Boot{}}, &keeperConfig{Lower: []string{""}}, &guestproto.Exit{}} {
		if b, err := json.Marshal(v); err == nil {
			_ = json.Unmarshal(b, v)
		}
	}
}

// hasDoor reports whether a keeper listens at its door, which is the last that it does by itself (proc_net_tcp: the
// local port in hexadecimal, and state 0A for listening).
func hasDoor(pid int) bool {
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", pid))
	return err == nil && bytes.Contains(table, fmt.Appendf(nil, ":%04X 00000000:0000 0A ", guestproto.DoorPort))
}
