package guest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// Hostname is the same in every VM, so that a run is repeatable.
const Hostname = "joy"

// renew makes a booted guest this run's own: its clock, its randomness, its machine-id, its scratch disk. Everything that
// differs from run to run happens here and not in boot.
func (b *booted) renew(s *guestproto.Start) error {
	if b.hosted {
		return b.renewHosted(s)
	}
	now := unix.NsecToTimeval(s.Time)
	if err := unix.Settimeofday(&now); err != nil {
		return fmt.Errorf("setting the clock: %w", err)
	}
	if err := reseed(s.Entropy); err != nil {
		return err
	}
	if err := writeMachineID(); err != nil {
		return err
	}
	return mountScratch(b.scratch)
}

// sysctls are the kernel's limits that are not a cgroup's.
var sysctls = map[string]string{
	// Without user namespaces a step's root can never gain a capability it was not left with.
	"user/max_user_namespaces": "0",
	// These are kept for the whole VM, or for root in all worlds together, so that one step could starve another of
	// them. The memory behind them is charged to the step that uses it, which is bound enough.
	"fs/file-max":                   "9223372036854775807",
	"fs/inotify/max_user_instances": "1048576",
	"fs/pipe-user-pages-soft":       "0",
	// Memory is bounded where it is used: a step that asks for more than there is learns of it by being ended for it,
	// with the reason on record, whether it asks at once or little by little.
	"vm/overcommit_memory": "1",
}

// reseed mixes the host's entropy into the kernel's pool, credits it and makes the kernel use it at once
// (random(4), RNDADDENTROPY and RNDRESEEDCRNG).
func reseed(entropy []byte) error {
	if len(entropy) < 32 {
		return errors.New("start: fewer than 32 bytes of entropy")
	}
	f, err := os.OpenFile("/dev/urandom", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info := struct {
		bits, size int32
		buf        [64]byte
	}{size: 64, bits: 64 * 4}
	copy(info.buf[:], entropy)
	for _, call := range []struct {
		req uintptr
		arg unsafe.Pointer
	}{{unix.RNDADDENTROPY, unsafe.Pointer(&info)}, {rndReseedCRNG, nil}} { //nolint:gosec // an ioctl takes a pointer
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), call.req, uintptr(call.arg)); errno != 0 {
			return fmt.Errorf("seeding the kernel: %w", errno)
		}
	}
	return nil
}

// rndReseedCRNG is _IO('R', 0x07), which x/sys does not name.
const rndReseedCRNG = 0x5207

// dirEtc is /etc of the layer that every world finds over the image.
const dirEtc = dirVM + "/etc"

// writeNames writes the names there that are the same in every run. A restored guest has them in its memory.
func writeNames() error {
	if err := unix.Sethostname([]byte(Hostname)); err != nil {
		return err
	}
	if err := os.MkdirAll(dirEtc, 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"hostname":    Hostname + "\n",
		"hosts":       "127.0.0.1 localhost " + Hostname + "\n::1 localhost\n",
		"resolv.conf": "", // there is no name service here: names go through the broker
	} {
		if err := os.WriteFile(dirEtc+"/"+name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeMachineID gives the VM one of its own, from randomness that the host has renewed.
func writeMachineID() error {
	var id [16]byte
	if _, err := unix.Getrandom(id[:], 0); err != nil {
		return err
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // machine-id(5): formed like a version 4 UUID
	return os.WriteFile(dirEtc+"/machine-id", []byte(hex.EncodeToString(id[:])+"\n"), 0o644)
}

// inspect tells what the guest found.
func inspect() (found guestproto.Boot, err error) {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return found, err
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return found, err
	}
	cpus, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return found, err
	}
	return guestproto.Boot{
		Kernel:  unix.ByteSliceToString(uts.Release[:]),
		Memory:  int64(info.Totalram) * int64(info.Unit),
		CPUs:    countCPUs(strings.TrimSpace(string(cpus))),
		Cgroup2: exists(dirCgroup + "/cgroup.controllers"),
	}, nil
}

// countCPUs counts a list such as "0-3,8".
func countCPUs(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA == nil && errB == nil && b >= a {
			n += b - a + 1
		}
	}
	return n
}

// controllers bound what a step uses.
const controllers = "+memory +pids +cpu"

// dirSteps is the parent of every world's cgroup: what they may use together.
const dirSteps = dirCgroup + "/steps"

// settle does what is the same in every run and would cost each of them: the kernel rewrites itself in many places when
// a controller is first used, which an emulated CPU has to translate anew.
func (b *booted) settle() (err error) {
	if err := writeNames(); err != nil {
		return err
	}
	for name, value := range sysctls {
		if err := os.WriteFile("/proc/sys/"+name, []byte(value), 0); err != nil {
			return err
		}
	}
	if err := os.WriteFile(dirCgroup+"/cgroup.subtree_control", []byte(controllers), 0); err != nil {
		return fmt.Errorf("enabling cgroup controllers: %w", err)
	}
	if err := os.MkdirAll(dirSteps, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(dirSteps+"/cgroup.subtree_control", []byte(controllers), 0); err != nil {
		return err
	}
	if b.found, err = inspect(); err != nil {
		return err
	}
	b.pids, err = limitWorlds(b.found.Memory)
	return err
}

// limitWorlds bounds what all worlds together may use. pids is how many processes one of them may have.
func limitWorlds(memory int64) (pids int, err error) {
	threads, err := readNumber("/proc/sys/kernel/threads-max")
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]int64{
		"memory.max": max(memory-guestproto.Reserve, 16<<20),
		// A quarter of what the kernel can start is the guest's own: without a thread it could not go on.
		"pids.max": int64(threads / 4 * 3),
		// The guest's own processes, which weigh 100 and work only when they are asked to, come first: an order to kill
		// must not wait for what is to be killed.
		"cpu.weight": 10,
	} {
		if err := os.WriteFile(filepath.Join(dirSteps, name), strconv.AppendInt(nil, value, 10), 0); err != nil {
			return 0, err
		}
	}
	return min(guestproto.WorldPids, threads/2), nil
}

func readNumber(file string) (int, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}
