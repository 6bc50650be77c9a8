package microvm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/ordinary"
)

// snapshotForm changes when a snapshot is made in another way from the same parts.
const snapshotForm = "joy-snapshot 1"

// store names the place of this machine's snapshots. The key is a digest of everything that the state of a booted guest
// depends on; what is doubtful is in it, because a wrong snapshot costs a run and another key only a boot.
func (m *machine) store() (store, error) {
	dir := snapshotDir(m.cacheDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return store{}, err
	}
	qemu, err := programDigest(m.qemu, filepath.Join(dir, "qemu.json"))
	if err != nil {
		return store{}, fmt.Errorf("reading %s: %w", m.qemu, err)
	}
	host, err := hostIdentity(m.accel)
	if err != nil {
		return store{}, err
	}
	parts, err := json.Marshal([]any{
		snapshotForm, qemu, m.args(m.making(nil)), m.image, filepath.Base(m.initrd), m.snapshotDisk(), host,
	})
	if err != nil {
		return store{}, err
	}
	key := sha256.Sum256(parts)
	image := strings.TrimPrefix(m.image, "sha256:")
	if len(image) < 16 {
		return store{}, fmt.Errorf("bad image digest %q", m.image)
	}
	return store{dir: dir, image: image[:16], key: hex.EncodeToString(key[:16])}, nil
}

// snapshotDisk is the size of the scratch disk that a snapshot is made with, in bytes: the next power of two, so that
// disks of many sizes share one. The guest remembers this size; QEMU ends the real disk where it really ends, and the
// file system knows its own size.
func (m *machine) snapshotDisk() int64 {
	return int64(1) << bits.Len64(uint64(max(m.disk, 1)-1))
}

// hostIdentity is what of this host can be seen in a guest's state. Under emulation that should be nothing but the rate
// of the time stamp counter. Under KVM the guest runs on the real CPU, and nothing is carried over a reboot.
func hostIdentity(accel string) ([]string, error) {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return nil, err
	}
	id := []string{unix.ByteSliceToString(uts.Machine[:]), unix.ByteSliceToString(uts.Release[:])}
	cpu, err := hostCPU()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags"} {
		id = append(id, cpu[name])
	}
	if accel == "kvm" {
		boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
		if err != nil {
			return nil, err
		}
		id = append(id, string(boot))
	}
	return id, nil
}

// digested is a program's digest, with what tells that the file is still the one that was read.
type digested struct {
	Path   string `json:"path"`
	Inode  uint64 `json:"inode"`
	Size   int64  `json:"size"`
	Mtime  int64  `json:"mtime"` // ns
	Ctime  int64  `json:"ctime"` // ns: unlike mtime, no program can set it
	SHA256 string `json:"sha256"`
}

// maxNote bounds what joy notes of QEMU beside the snapshots, in bytes.
const maxNote = 64 << 10

// programDigest reads a program, or takes what note says of it when the file has not changed since.
func programDigest(path, note string) (string, error) {
	f, err := ordinary.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", err
	}
	now := digested{Path: path, Inode: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}
	var was digested
	if b, err := ordinary.Read(note, maxNote); err == nil && json.Unmarshal(b, &was) == nil {
		sum := was.SHA256
		if was.SHA256 = ""; was == now && len(sum) == 2*sha256.Size {
			return sum, nil
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	now.SHA256 = hexSum(h)
	body, err := json.Marshal(now)
	if err != nil {
		return "", err
	}
	return now.SHA256, replaceFile(note, body)
}

// replaceFile puts a whole file in the place of another.
func replaceFile(path string, body []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(body)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
