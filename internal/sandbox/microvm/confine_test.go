//go:build linux

package microvm

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
)

// openDir is a temporary directory that every user can reach: t.TempDir is in one that its maker alone can.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// selfCopy is this test's program where everybody may execute it: go test keeps it in a directory of the user alone.
func selfCopy(t *testing.T) string {
	t.Helper()
	program := filepath.Join(openDir(t), "probe")
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, self, 0o755))
	return program
}

// newTarget makes what a probe tries itself on. Its files are open to everybody, so that it is not their mode that holds.
func newTarget(t *testing.T) target {
	t.Helper()
	to := target{Dir: openDir(t), Pid: os.Getpid()}
	require.NoError(t, os.Chmod(to.Dir, 0o777))
	for _, name := range []string{"secret", "mine", "old", "doomed"} {
		require.NoError(t, os.WriteFile(filepath.Join(to.Dir, name), []byte("secret of the host"), 0o600))
		require.NoError(t, os.Chmod(filepath.Join(to.Dir, name), 0o666))
	}
	bus, err := net.Listen("unix", filepath.Join(to.Dir, "bus"))
	require.NoError(t, err)
	t.Cleanup(func() { bus.Close() })
	require.NoError(t, os.Chmod(filepath.Join(to.Dir, "bus"), 0o777))
	secret := new([8]byte)
	t.Cleanup(func() { secret[0] = 1 }) // it stays where it is until then
	to.Secret = uint64(uintptr(unsafe.Pointer(secret)))
	return to
}

// launched starts a program as QEMU is launched.
func launched(t *testing.T, program string, args []string, files ...*os.File) (*process, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	return launchedTo(t, &out, program, args, files...), &out
}

func launchedTo(t *testing.T, out io.Writer, program string, args []string, files ...*os.File) *process {
	t.Helper()
	ours, theirs, err := socketpair()
	require.NoError(t, err)
	defer theirs.Close()
	p, err := launch(program, args, append([]*os.File{theirs}, files...), ours, out, limits{memory: 64 << 20, disk: 64 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.destroy()) })
	return p
}

// waiting is a program that has said that it runs, and waits: one that is still loading has its libraries open.
func waiting(t *testing.T, files ...*os.File) *process {
	t.Helper()
	said := &watcher{want: "up\n", seen: make(chan struct{})}
	p := launchedTo(t, said, "/bin/sh", []string{"-c", "exec <&" + strconv.Itoa(fdChannel) + "; echo up; read x"}, files...)
	within(t, said.seen, "it does not start")
	return p
}

// probed runs the probe as QEMU is run, and says what came of each attempt.
func probed(t *testing.T, to target) map[string]string {
	t.Helper()
	arg, err := json.Marshal(to)
	require.NoError(t, err)
	p, out := launched(t, selfCopy(t), []string{"probe", string(arg)})
	_, err = p.channel.Write([]byte("go")) // it is bound by now
	require.NoError(t, err)
	within(t, p.exited, "the probe does not end")
	require.NoError(t, p.status, "%s", out)
	return report(t, out.Bytes())
}

func report(t *testing.T, line []byte) (came map[string]string) {
	t.Helper()
	require.NoError(t, json.Unmarshal(line, &came), "%s", line)
	return came
}

// TestWhatIsHeldCannot: whatever a QEMU that was taken over would try next fails, and all of it works for a program that
// nothing holds.
func TestWhatIsHeldCannot(t *testing.T) {
	free := newTarget(t)
	arg, err := json.Marshal(free)
	require.NoError(t, err)
	out, err := exec.Command(selfCopy(t), "probe", string(arg)).Output()
	require.NoError(t, err)
	can := report(t, out)
	for _, unsure := range []string{
		"read its memory", "trace it", "open an io_uring", "make a user namespace", "add a key", "take its limits", // hosts differ
		"make a directory",
	} {
		delete(can, unsure)
	}
	for name, came := range can {
		require.Equal(t, "done", came, "%s: nothing held it", name)
	}

	to := newTarget(t)
	came := probed(t, to)
	require.Subset(t, slices.Collect(maps.Keys(came)), slices.Collect(maps.Keys(can)))
	for name, came := range came {
		require.NotEqual(t, "done", came, name)
	}
	left, err := os.ReadDir(to.Dir)
	require.NoError(t, err)
	require.Len(t, left, 5, "as it was")
	mine, err := os.ReadFile(filepath.Join(to.Dir, "mine"))
	require.NoError(t, err)
	require.Equal(t, "secret of the host", string(mine))
}

// TestTwoVMs: one cannot reach another, also where both have the same uid.
func TestTwoVMs(t *testing.T) {
	other, _ := launched(t, "/bin/sleep", []string{"1000"})
	to := newTarget(t)
	to.Pid = other.pid
	for name, came := range probed(t, to) {
		require.NotEqual(t, "done", came, name)
	}
	require.True(t, Alive(other.id))
	third, _ := launched(t, "/bin/sleep", []string{"1000"})
	if os.Geteuid() == 0 {
		require.GreaterOrEqual(t, other.hold.uid, firstUID)
		require.NotEqual(t, other.hold.uid, third.hold.uid)
	}
}

// TestWhatIsMissingIsSaid: what verify finds other than it should be is said in words, and hardware isolation refuses it.
func TestWhatIsMissingIsSaid(t *testing.T) {
	extra, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer extra.Close()
	secret, err := os.Open("/etc/passwd")
	require.NoError(t, err)
	defer secret.Close()
	p := waiting(t, extra, secret)

	whole := *p.hold
	canHold(t, whole.missing)
	whole.filters-- // no QEMU, so there is no filter of QEMU
	for name, tc := range map[string]struct {
		change func(*hold)
		want   string
	}{
		"no filter of QEMU":  {func(h *hold) { h.filters++ }, "no more than joy's"},
		"another uid":        {func(h *hold) { h.uid = 4711 }, "Uid: "},
		"more groups":        {func(h *hold) { h.uid, h.groups = 4711, []uint32{27} }, "Groups: , not 27"},
		"a shared namespace": {func(h *hold) { h.namespaces = append(slices.Clone(h.namespaces), "time") }, "namespace time is joy's own"},
		"no such namespace":  {func(h *hold) { h.namespaces = append(slices.Clone(h.namespaces), "warp") }, "namespace warp: "},
		"a higher limit":     {func(h *hold) { h.memory = 1 << 20; h.disk = 0 }, "Max data size: "},
		"a leak":             {func(h *hold) { h.given = h.given[:2] }, "/etc/passwd was not handed over"},
		"an early failure":   {func(h *hold) { h.lacks("landlock", unix.ENOSYS) }, "landlock: function not implemented"},
	} {
		t.Run(name, func(t *testing.T) {
			h := whole
			tc.change(&h)
			q := &process{pid: p.pid, hold: &h}
			require.NoError(t, q.held("any"))
			found, reduced := h.found()
			require.Contains(t, reduced, tc.want)
			require.Contains(t, found, "reduced ("+reduced+"): ")
			require.NotContains(t, found, "warp,")
			h.missing = nil
			tc.change(&h)
			err := q.held("hardware")
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, fault.Platform, fault.KindOf(err))
		})
	}
	t.Run("nothing", func(t *testing.T) {
		h := whole
		require.NoError(t, (&process{pid: p.pid, hold: &h}).held("hardware"))
		_, reduced := h.found()
		require.Empty(t, reduced)
	})
	t.Run("it has ended", func(t *testing.T) {
		h := whole
		require.NoError(t, p.destroy())
		h.verify(p.pid)
		_, reduced := h.found()
		for _, what := range []string{"threads: ", "namespace net: ", "limits: ", "descriptors: "} {
			require.Contains(t, reduced, what)
		}
	})
}

// canHold skips on a host that refuses a layer; anything else that is missing is a failure.
func canHold(t *testing.T, missing []string) {
	t.Helper()
	for _, m := range missing {
		if strings.HasPrefix(m, "namespaces: ") || strings.HasPrefix(m, "landlock: ") {
			t.Skip("this host refuses ", m)
		}
	}
	require.Empty(t, missing)
}

// TestInheritedDescriptors: what joy was started with stays with joy.
func TestInheritedDescriptors(t *testing.T) {
	secret, err := os.Open("/etc/passwd")
	require.NoError(t, err)
	defer secret.Close()
	leaky, err := unix.Dup(int(secret.Fd())) // not close-on-exec, as from a shell
	require.NoError(t, err)
	defer unix.Close(leaky)
	q := waiting(t)
	h := *q.hold
	h.verify(q.pid)
	_, reduced := h.found()
	require.NotContains(t, reduced, "passwd")
	require.NotContains(t, reduced, "descriptor")
}

// TestQEMUIsHeld looks at the real thing: all of it is there when the host can give it, and a VM boots under it.
func TestQEMUIsHeld(t *testing.T) {
	p, spec := testProvider(t)
	v, _ := running(t, p, spec)
	canHold(t, v.proc.hold.missing)
	require.Contains(t, v.Info().Confinement, "landlock, seccomp")
	require.Contains(t, v.Info().Confinement, "net ipc uts mnt pid cgroup")
	status, err := readStatus(procFile(v.proc.pid, "status"))
	require.NoError(t, err)
	require.NotContains(t, status["Uid"]+" ", "0 0 0 0")
	score, err := os.ReadFile(procFile(v.proc.pid, "oom_score_adj"))
	require.NoError(t, err)
	require.Equal(t, "1000\n", string(score))
	cwd, err := os.Readlink(procFile(v.proc.pid, "cwd"))
	require.NoError(t, err)
	require.Equal(t, "/", cwd)
	require.NoError(t, v.proc.held("hardware"), "and still is, with a step running")
}

func procFile(pid int, name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }

// BenchmarkHold is what holding costs a start: a program launched as QEMU is, and looked at, less the same program
// started plainly.
func BenchmarkHold(b *testing.B) {
	var plain, held, verified time.Duration
	for b.Loop() {
		begin := time.Now()
		cmd := exec.Command("/bin/sleep", "1000")
		cmd.Stdout = io.Discard
		require.NoError(b, cmd.Start())
		plain += time.Since(begin)
		require.NoError(b, cmd.Process.Kill())
		_ = cmd.Wait() // its status is "killed"

		ours, theirs, err := socketpair()
		require.NoError(b, err)
		begin = time.Now()
		p, err := launch("/bin/sleep", []string{"1000"}, []*os.File{theirs}, ours, nil, limits{memory: 1 << 30, disk: 1 << 30})
		require.NoError(b, err)
		held += time.Since(begin)
		begin = time.Now()
		p.hold.verify(p.pid)
		verified += time.Since(begin)
		theirs.Close()
		require.NoError(b, p.destroy())
	}
	for name, d := range map[string]time.Duration{"plain": plain, "held": held, "verified": verified} {
		b.ReportMetric(d.Seconds()*1000/float64(b.N), name+"-ms")
	}
}
