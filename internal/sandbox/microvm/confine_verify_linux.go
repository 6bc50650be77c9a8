package microvm

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// verify reads back from the kernel what holds QEMU, once QEMU has put on its own filter and before anything of a plan is
// sent to it. What it does not find is added to what is missing.
func (h *hold) verify(pid int) {
	h.verifyThreads(pid)
	h.verifyNamespaces(pid)
	h.verifyLimits(pid)
	h.verifyFiles(pid)
}

func (h *hold) wrong(format string, args ...any) {
	h.missing = append(h.missing, fmt.Sprintf(format, args...))
}

// verifyThreads looks at every thread: in Linux, rights are a thread's.
func (h *hold) verifyThreads(pid int) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		h.wrong("threads: %v", err)
		return
	}
	want := h.status()
	for _, thread := range threads {
		status, err := readStatus(dir + "/" + thread.Name() + "/status")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) { // it has ended
			continue
		}
		if err != nil {
			h.wrong("threads: %v", err)
			return
		}
		var differs []string
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if status[key] != want[key] {
				differs = append(differs, fmt.Sprintf("%s: %s, not %s", key, status[key], want[key]))
			}
		}
		if n, err := strconv.Atoi(status["Seccomp_filters"]); err == nil && n <= h.filters {
			differs = append(differs, fmt.Sprintf("Seccomp_filters: %d, no more than joy's", n))
		}
		if len(differs) > 0 {
			h.missing = append(h.missing, differs...)
			return // one thread says it for all
		}
	}
}

// status is what proc_pid_status(5) must say of each thread.
func (h *hold) status() map[string]string {
	const none = "0000000000000000"
	want := map[string]string{
		"NoNewPrivs": "1", "Seccomp": strconv.Itoa(unix.SECCOMP_MODE_FILTER),
		"CapInh": none, "CapPrm": none, "CapEff": none, "CapAmb": none,
	}
	if h.uid >= 0 {
		id := strconv.Itoa(h.uid)
		want["Uid"] = strings.Join([]string{id, id, id, id}, " ")
		want["Gid"] = want["Uid"]
		groups := make([]string, len(h.groups))
		for i, g := range h.groups {
			groups[i] = strconv.FormatUint(uint64(g), 10)
		}
		want["Groups"] = strings.Join(groups, " ")
	}
	if h.root {
		want["CapBnd"] = none
	}
	return want
}

func (h *hold) verifyNamespaces(pid int) {
	h.namespaces = slices.DeleteFunc(h.namespaces, func(name string) bool {
		ours, err := os.Readlink("/proc/self/ns/" + name)
		theirs, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, name))
		if err := errors.Join(err, err2); err != nil {
			h.wrong("namespace %s: %v", name, err)
			return true
		}
		if ours == theirs {
			h.wrong("namespace %s is joy's own", name)
		}
		return ours == theirs
	})
}

// verifyLimits reads proc_pid_limits(5), which anybody may: columns of fixed width, the hard limit in the third.
func (h *hold) verifyLimits(pid int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		h.wrong("limits: %v", err)
		return
	}
	for _, l := range h.rlimits() {
		is := hardLimit(string(b), l.name)
		if n, err := strconv.ParseUint(is, 10, 64); err != nil || n > l.value {
			h.wrong("%s: %s, not %d", l.name, cmp.Or(is, "not known"), l.value)
		}
	}
}

func hardLimit(limits, name string) string {
	for line := range strings.Lines(limits) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if fields := strings.Fields(rest); len(fields) > 1 {
				return fields[1]
			}
		}
	}
	return ""
}

// verifyFiles looks at every open file: those handed over, the two ends of its output, devices it may open, and what has
// no file behind it. Anything else is joy's, and leaked.
func (h *hold) verifyFiles(pid int) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	names, err := os.ReadDir(dir)
	if err != nil {
		h.wrong("descriptors: %v", err)
		return
	}
	output := []string{link(dir + "1"), link(dir + "2")}
	for _, name := range names {
		path := link(dir + name.Name())
		switch {
		case path == "", strings.HasPrefix(path, "anon_inode:"): // closed by now; event counters and the like
			continue
		case strings.HasPrefix(path, "pipe:") && slices.Contains(output, path):
			continue
		}
		var st unix.Stat_t
		switch err := unix.Stat(dir+name.Name(), &st); {
		case errors.Is(err, unix.ENOENT): // closed by now
			continue
		case err != nil:
			h.wrong("descriptor %s: %v", name.Name(), err)
			continue
		}
		if !slices.Contains(h.given, fileID{st.Dev, st.Ino}) && !h.mayOpen(st) {
			h.wrong("descriptor %s: %s was not handed over", name.Name(), path)
		}
	}
}

func (h *hold) mayOpen(st unix.Stat_t) bool {
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return false
	}
	const null, kvm = 1<<8 | 3, 10<<8 | 232 // admin-guide/devices.txt
	return st.Rdev == null || h.kvm && st.Rdev == kvm
}

func link(path string) string {
	to, err := os.Readlink(path)
	if err != nil {
		return ""
	}
	return to
}

// found is what holds QEMU, as verify found it, in the words of docs/sandbox.md; reduced says what is missing.
func (h *hold) found() (found, reduced string) {
	parts := []string{"no network device"}
	if h.uid >= 0 {
		parts = append(parts, "own uid")
	}
	if len(h.namespaces) > 0 {
		parts = append(parts, "namespaces "+strings.Join(h.namespaces, " "))
	}
	if h.landlock > 0 {
		parts = append(parts, "landlock")
	}
	if h.filters > 0 {
		parts = append(parts, "seccomp")
	}
	found, reduced = strings.Join(parts, ", "), strings.Join(h.missing, "; ")
	if reduced != "" {
		found = fmt.Sprintf("reduced (%s): %s", reduced, found)
	}
	return found, reduced
}

// procStatus is a /proc/…/status: keys, and values with single spaces.
type procStatus map[string]string

func readStatus(file string) (procStatus, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	status := procStatus{}
	for line := range bytes.Lines(b) {
		key, value, _ := strings.Cut(string(line), ":")
		status[key] = strings.Join(strings.Fields(value), " ")
	}
	return status, nil
}
