//go:build linux

package microvm

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox"
)

var benchEnv = map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin"}

func benchProvider(b *testing.B) (*Provider, sandbox.Spec) {
	b.Helper()
	cache, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(b, err)
	img, err := image.Latest(cache, "tiny")
	require.NoError(b, err, "run script/test once: it builds the image")
	return &Provider{CacheDir: cache, Accel: "tcg"}, sandbox.Spec{Run: "bench", Start: "cold", Image: img.Digest(), CPUs: 2, Memory: 512 << 20, Disk: 1 << 30}
}

// BenchmarkColdStart compares a cold start, from the exec of QEMU to the exit of /bin/true in a full step, with the
// same kernel, devices and QEMU booting a one-line init. The two are taken in turn, so that the ratio holds on a busy
// machine.
func BenchmarkColdStart(b *testing.B) {
	p, spec := benchProvider(b)
	bare := bareInitrd(b, p, spec)
	var full, base, fullCPU, baseCPU []time.Duration
	for b.Loop() {
		wall, cpu := coldStart(b, p, spec)
		full, fullCPU = append(full, wall), append(fullCPU, cpu)
		wall, cpu = bareStart(b, p, spec, bare)
		base, baseCPU = append(base, wall), append(baseCPU, cpu)
	}
	b.ReportMetric(median(full).Seconds(), "s/cold-start")
	b.ReportMetric(median(base).Seconds(), "s/one-line-init")
	b.ReportMetric(float64(median(full))/float64(median(base)), "ratio")
	b.ReportMetric(float64(median(fullCPU))/float64(median(baseCPU)), "cpu-ratio")
}

// BenchmarkSnapshotStart compares a start from a snapshot, from opening it to the exit of /bin/true in a full step, with
// a cold start of the same VM; and the first python3 of each, which the image base has. They are taken in turn.
func BenchmarkSnapshotStart(b *testing.B) {
	for _, profile := range []string{"tiny", "base"} {
		b.Run(profile, func(b *testing.B) { benchSnapshot(b, profile) })
	}
}

func benchSnapshot(b *testing.B, profile string) {
	p, spec := benchProvider(b)
	img, err := image.Latest(p.CacheDir, profile)
	if err != nil {
		b.Skipf("bin/joy image build --profile %s builds what this needs: %v", profile, err)
	}
	spec.Image = img.Digest()
	// A cache of its own: others who use the tester's make and clear snapshots there meanwhile.
	cache := b.TempDir()
	require.NoError(b, os.Symlink(filepath.Join(p.CacheDir, "images"), filepath.Join(cache, "images")))
	p.CacheDir = cache
	made, err := p.MakeSnapshot(b.Context(), spec)
	require.NoError(b, err)
	require.True(b, made)
	var took, cpu, python, pythonCPU [2][]time.Duration
	for b.Loop() {
		for i, start := range []string{"cold", "any"} {
			spec.Start = start
			t := fullStart(b, p, spec, profile == "base")
			took[i], cpu[i] = append(took[i], t.wall), append(cpu[i], t.cpu)
			python[i], pythonCPU[i] = append(python[i], t.python), append(pythonCPU[i], t.pythonCPU)
		}
	}
	b.ReportMetric(median(took[0]).Seconds(), "s/cold-start")
	b.ReportMetric(median(took[1]).Seconds(), "s/snapshot-start")
	b.ReportMetric(float64(median(took[1]))/float64(median(took[0])), "ratio")
	b.ReportMetric(float64(median(cpu[1]))/float64(median(cpu[0])), "cpu-ratio")
	if profile == "base" {
		b.ReportMetric(median(python[1]).Seconds(), "s/first-python")
		b.ReportMetric(float64(median(python[1]))/float64(median(python[0])), "python-ratio")
		b.ReportMetric(float64(median(pythonCPU[1]))/float64(median(pythonCPU[0])), "python-cpu-ratio")
	}
}

// startTimes are those of one VM: to the exit of /bin/true, and of the first python3 after that.
type startTimes struct{ wall, cpu, python, pythonCPU time.Duration }

func fullStart(b *testing.B, p *Provider, spec sandbox.Spec, python bool) (t startTimes) {
	b.Helper()
	ctx := b.Context()
	begin := time.Now()
	sb, err := p.Create(ctx, spec)
	require.NoError(b, err)
	defer func() { require.NoError(b, sb.Destroy(ctx)) }()
	w, err := sb.Open(ctx, sandbox.WorldSpec{ID: "bench", Env: benchEnv, ReadOnly: []string{"skills/bench"}})
	require.NoError(b, err)
	run := func(argv ...string) {
		res, err := w.Run(ctx, sandbox.Command{Argv: argv}, io.Discard, io.Discard)
		require.NoError(b, err)
		require.Zero(b, res.ExitCode)
	}
	run("/bin/true")
	t.wall, t.cpu = time.Since(begin), cpuTime(sb.(*vm).proc.pid)
	require.Equal(b, spec.Start == "any", sb.Info().Start == "snapshot", "%s", sb.Info().StartReason)
	if python {
		begin = time.Now()
		run("python3", "-c", "print(1)")
		t.python, t.pythonCPU = time.Since(begin), cpuTime(sb.(*vm).proc.pid)-t.cpu
	}
	return t
}

func coldStart(b *testing.B, p *Provider, spec sandbox.Spec) (wall, cpu time.Duration) {
	ctx := context.Background()
	m, err := p.machine(spec)
	require.NoError(b, err)
	m.accel = "tcg"
	begin := time.Now()
	proc, err := m.start(nil)
	require.NoError(b, err)
	client, err := connect(ctx, proc, spec)
	require.NoError(b, err)
	w, err := client.Open(ctx, sandbox.WorldSpec{ID: "bench", Env: benchEnv, ReadOnly: []string{"skills/bench"}})
	require.NoError(b, err)
	res, err := w.Run(ctx, sandbox.Command{Argv: []string{"/bin/true"}}, io.Discard, io.Discard)
	wall, cpu = time.Since(begin), cpuTime(proc.pid)
	require.NoError(b, err)
	require.Zero(b, res.ExitCode)
	require.NoError(b, proc.destroy())
	require.NoError(b, client.Close())
	return wall, cpu
}

// bareStart boots the one-line init and waits for its line on the console.
func bareStart(b *testing.B, p *Provider, spec sandbox.Spec, initrd string) (wall, cpu time.Duration) {
	said := &watcher{want: "up-and-running", seen: make(chan struct{})}
	spec.Console = said
	m, err := p.machine(spec)
	require.NoError(b, err)
	m.accel, m.initrd = "tcg", initrd
	begin := time.Now()
	proc, err := m.start(nil)
	require.NoError(b, err)
	select {
	case <-said.seen:
	case <-proc.exited:
		b.Fatal("the VM ended: " + proc.tail.String())
	case <-time.After(2 * time.Minute):
		b.Fatal("no line on the console: " + proc.tail.String())
	}
	wall, cpu = time.Since(begin), cpuTime(proc.pid)
	require.NoError(b, proc.destroy())
	return wall, cpu
}

type watcher struct {
	want string
	buf  bytes.Buffer
	seen chan struct{}
	done bool
}

func (w *watcher) Write(p []byte) (int, error) {
	w.buf.Write(p)
	if !w.done && strings.Contains(w.buf.String(), w.want) {
		w.done = true
		close(w.seen)
	}
	return len(p), nil
}

// bareInitrd is the image's own initrd with an init that writes one line to the console and waits: 48 bytes of machine
// code in the smallest ELF file, so that the baseline is the machine's and not a shell's.
func bareInitrd(b *testing.B, p *Provider, spec sandbox.Spec) string {
	b.Helper()
	if runtime.GOARCH != "amd64" {
		b.Skip("the one-line init is machine code for amd64")
	}
	img, err := image.Find(p.CacheDir, spec.Image)
	require.NoError(b, err)
	var out bytes.Buffer
	require.NoError(b, image.Initrd(img, oneLineInit("up-and-running\n"), &out))
	path := filepath.Join(b.TempDir(), "bare.cpio")
	require.NoError(b, os.WriteFile(path, out.Bytes(), 0o644)) // QEMU opens it as another uid
	return path
}

func oneLineInit(line string) []byte {
	code := []byte{
		0xb8, 1, 0, 0, 0, // mov eax, 1 (write)
		0xbf, 1, 0, 0, 0, // mov edi, 1
		0x48, 0x8d, 0x35, 16, 0, 0, 0, // lea rsi, [rip+16]
		0xba, byte(len(line)), 0, 0, 0, // mov edx, len
		0x0f, 0x05, // syscall
		0xb8, 34, 0, 0, 0, // mov eax, 34 (pause)
		0x0f, 0x05, // syscall
		0xeb, 0xf7, // jmp to the pause
	}
	const base, head = 0x400000, 64 + 56
	size := uint64(head + len(code) + len(line))
	elf := []byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	le16, le32, le64 := binary.LittleEndian.AppendUint16, binary.LittleEndian.AppendUint32, binary.LittleEndian.AppendUint64
	elf = le32(le16(le16(elf, 2), 62), 1)         // executable, x86-64, version 1
	elf = le64(le64(le64(elf, base+head), 64), 0) // entry, program headers, no sections
	elf = le16(le16(le16(le32(elf, 0), 64), 56), 1)
	elf = le16(le16(le16(elf, 0), 0), 0)
	elf = le32(le32(elf, 1), 5) // one segment to load, readable and executable
	elf = le64(le64(le64(elf, 0), base), base)
	elf = le64(le64(le64(elf, size), size), 0x1000)
	return append(append(elf, code...), line...)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
