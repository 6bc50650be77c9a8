package connection

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/thread"
)

const (
	read  = landlock.AccessFSReadFile | landlock.AccessFSReadDir
	run   = read | landlock.AccessFSExecute
	all   = 1<<13 - 1 // the rights of Landlock's first version
	files = landlock.AccessFSExecute | landlock.AccessFSWriteFile | landlock.AccessFSReadFile | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev
)

// What any program may need of the system, and nothing of a person in it. /proc holds other processes' command lines,
// but neither their environment nor their memory: Landlock refuses to trace what it does not hold.
var (
	systemDirs = []string{
		"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/gnu/store",
	}
	systemReads = []string{
		"/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/fonts", "/etc/pki", "/etc/ssl",
		"/etc/gai.conf", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime",
		"/etc/mime.types", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/protocols", "/etc/resolv.conf",
		"/etc/services", "/etc/timezone", "/run/systemd/resolve", "/run/resolvconf", "/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup",
		"/sys/kernel/mm/transparent_hugepage", "/dev/random", "/dev/urandom", "/dev/zero",
	}
)

// confine takes from the calling thread, and from what it starts, every file but the system's programs, the server's own
// files for reading, and a home of its own. What it may say over the network is between it and its service. A kernel
// that cannot do this starts nothing.
func confine(cfg Config, program, home string) error {
	version, err := landlock.LandlockGetABIVersion()
	if err != nil {
		return fault.Wrap(fault.Connection, err, "this machine cannot confine it: Landlock").
			WithHint("use Linux 5.13 or later with Landlock, or say why it need not be confined: connections.%s.unconfined", cfg.Name)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := thread.DropCapabilities(os.Geteuid() == 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	rights := rightsOf(version)
	attr := landlock.RulesetAttr{HandledAccessFS: rights}
	if version >= 6 {
		attr.Scoped = landlock.ScopeAbstractUnixSocket | landlock.ScopeSignal
	}
	set, err := landlock.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	defer unix.Close(set)
	rules := map[string]uint64{home: rights, os.DevNull: read | landlock.AccessFSWriteFile, "/dev/shm": rights}
	for _, dir := range append(systemDirs, ownFiles(cfg, program)...) {
		rules[dir] = run
	}
	for _, p := range systemReads {
		rules[p] = read
	}
	for path, may := range rules {
		if err := allow(set, path, may&rights); err != nil {
			return fmt.Errorf("landlock: %s: %w", path, err)
		}
	}
	return landlock.LandlockRestrictSelf(set, 0)
}

func rightsOf(version int) uint64 {
	rights := uint64(all)
	if version >= 2 {
		rights |= landlock.AccessFSRefer
	}
	if version >= 3 {
		rights |= landlock.AccessFSTruncate
	}
	if version >= 5 {
		rights |= landlock.AccessFSIoctlDev
	}
	return rights
}

// allow adds a rule for what is there; what is not needs none.
func allow(set int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= files // the others are of directories, and an error on a file
	}
	return landlock.LandlockAddPathBeneathRule(set, &landlock.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0)
}

// ownFiles are the program, and the files that its arguments name, each with what lies beside it: its directory, or the
// whole node_modules it is part of. Of a directory of the user's that holds more than programs nothing is opened: a file
// directly in the project, in the home or in / is opened alone.
func ownFiles(cfg Config, program string) []string {
	own := installed(cfg.Dir)
	for _, arg := range append([]string{program}, cfg.Argv[1:]...) {
		p := arg
		if !filepath.IsAbs(p) {
			p = filepath.Join(cfg.Dir, p)
		}
		info, err := os.Stat(p)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		for _, p := range []string{p, resolved(p)} {
			own = append(own, p, around(p, cfg.Dir))
		}
	}
	return own
}

// installed is what npm ci put into the project, which is programs too, with the files that npx reads to find them there.
// A checkout may hold a link of such a name, to anything: that is none of these.
func installed(dir string) []string {
	var out []string
	for _, name := range []string{"node_modules", "package.json", "package-lock.json"} {
		p := filepath.Join(dir, name)
		if info, err := os.Lstat(p); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			out = append(out, p)
		}
	}
	return out
}

func resolved(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return p
}

// around is the directory that belongs to a program at p, or p itself.
func around(p, project string) string {
	const modules = "/node_modules/"
	if i := strings.Index(p, modules); i >= 0 {
		return p[:i+len(modules)-1]
	}
	dir := filepath.Dir(p)
	home, _ := os.UserHomeDir()
	for _, wide := range []string{project, home, os.TempDir(), "/"} {
		if wide == "" {
			continue
		}
		if rel, err := filepath.Rel(dir, wide); err == nil && !strings.HasPrefix(rel, "..") {
			return p // dir is one of them, or above one
		}
	}
	return dir
}
