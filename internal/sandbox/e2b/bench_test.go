//go:build linux

package e2b

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// benchSize is what a benchmark of throughput moves each time.
const benchSize = 32 << 20

// track is one world, and the same machine's daemon, which joy is compared with. The two are taken in turn.
type track struct {
	*testing.B
	box   *box
	world sandbox.World
	plain *http.Client
	made  client.Sandbox
	times map[string][]time.Duration
}

func newTrack(b *testing.B) *track {
	b.Helper()
	r := newRig(b, e2btest.Options{})
	sb := r.create(b, r.spec())
	bx, ok := sb.(*box)
	require.True(b, ok)
	made, err := r.Client.Get(b.Context(), bx.id)
	require.NoError(b, err)
	t := &track{B: b, box: bx, world: openWorld(b, sb, "bench"), made: made, times: map[string][]time.Duration{}}
	t.plain = &http.Client{Transport: &http.Transport{DisableCompression: true}}
	b.Cleanup(t.plain.CloseIdleConnections)
	return t
}

func (t *track) take(name string, do func()) {
	begin := time.Now()
	do()
	t.times[name] = append(t.times[name], time.Since(begin))
}

// of is the middle of what was taken.
func (t *track) of(name string) float64 {
	slices.Sort(t.times[name])
	return float64(t.times[name][len(t.times[name])/2])
}

// raw is a transfer of a file by nothing but HTTP.
func (t *track) raw(server, method string, body []byte) int64 {
	req, err := http.NewRequestWithContext(t.Context(), method, server+"/files?path=/tmp/raw&username=root", bytes.NewReader(body))
	require.NoError(t, err)
	for k, v := range map[string]string{
		"E2b-Sandbox-Id": t.box.id, "E2b-Sandbox-Port": "49983", "X-Access-Token": string(t.made.AccessToken),
		"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("root:")),
		"Content-Type":  "application/octet-stream", "Accept-Encoding": "identity",
	} {
		req.Header.Set(k, v)
	}
	resp, err := t.plain.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return n
}

// BenchmarkE2BFiles compares what a step is given and leaves with the transfer of a file of that size by HTTP alone: the
// throughput of the one over that of the other.
func BenchmarkE2BFiles(b *testing.B) {
	t := newTrack(b)
	data := bytes.Repeat([]byte("0123456789abcdef"), benchSize/16)
	files := []sandbox.File{{Path: "f", Size: benchSize, Mode: 0o644, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}}
	caps := policy.Artifacts{MaxFile: benchSize, MaxTotal: benchSize, MaxFiles: 1}
	server := "http://" + t.box.provider.Client.Place()
	for b.Loop() {
		t.take("raw-put", func() { t.raw(server, http.MethodPost, data) })
		t.take("put", func() { require.NoError(b, t.world.Put(b.Context(), "out", files)) })
		t.take("raw-get", func() { require.EqualValues(b, benchSize, t.raw(server, http.MethodGet, nil)) })
		t.take("collect", func() {
			got := int64(0)
			_, err := t.world.Collect(b.Context(), caps, func(_ sandbox.Found, r io.Reader) (err error) {
				got, err = io.Copy(io.Discard, r)
				return err
			})
			require.NoError(b, err)
			require.EqualValues(b, benchSize, got)
		})
	}
	b.ReportMetric(t.of("raw-put")/t.of("put"), "put-ratio")
	b.ReportMetric(t.of("raw-get")/t.of("collect"), "collect-ratio")
}

// cpu is the processor's time of both ends so far: this process's, in which the service is too, and the machine's.
func (t *track) cpu() time.Duration {
	var self unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &self))
	var machine bytes.Buffer
	t.bare(&machine, "/bin/sh", "-c", "head -n 1 /sys/fs/cgroup/cpu.stat")
	var micros int64
	_, err := fmt.Sscanf(machine.String(), "usage_usec %d", &micros)
	require.NoError(t, err, machine.String())
	return time.Duration(self.Utime.Nano()+self.Stime.Nano()) + time.Duration(micros)*time.Microsecond
}

// takeCPU is take by the processor's time, which says what a busy machine's clock does not.
func (t *track) takeCPU(name string, do func()) {
	begin := t.cpu()
	do()
	t.times[name] = append(t.times[name], t.cpu()-begin)
}

// bare runs a program by the daemon alone, as one stream of Connect. Its messages are read by joy's own client, which is
// several times faster at that than package json: what is compared is the way that joy's bytes take, and no decoder.
func (t *track) bare(out io.Writer, argv ...string) {
	s, err := t.box.daemon.Start(t.Context(), client.Start{Cmd: argv[0], Args: argv[1:], Dir: "/"})
	require.NoError(t, err)
	defer s.Close()
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		_, _ = out.Write(ev.Stdout)
	}
}

func (t *track) run(argv ...string) int64 {
	var out counter
	res, err := t.world.Run(t.Context(), sandbox.Command{Argv: argv}, &out, io.Discard)
	require.NoError(t, err)
	require.Zero(t, res.ExitCode)
	return int64(out)
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// BenchmarkE2BStdout compares the throughput of a step's output with that of the same program's as a bare stream of Connect.
func BenchmarkE2BStdout(b *testing.B) {
	t := newTrack(b)
	argv := []string{"/bin/sh", "-c", "head -c " + strconv.Itoa(benchSize) + " /dev/zero"}
	for b.Loop() {
		t.takeCPU("bare-cpu", func() { t.take("bare", func() { t.bare(io.Discard, argv...) }) })
		t.takeCPU("joy-cpu", func() { t.take("joy", func() { require.EqualValues(b, benchSize, t.run(argv...)) }) })
	}
	b.ReportMetric(t.of("bare")/t.of("joy"), "clock-ratio")
	b.ReportMetric(t.of("bare-cpu")/t.of("joy-cpu"), "ratio")
}

// BenchmarkE2BTrue compares /bin/true in a step with a bare call of Connect that runs it: the time of the one over that of
// the other.
func BenchmarkE2BTrue(b *testing.B) {
	t := newTrack(b)
	for b.Loop() {
		t.take("bare", func() { t.bare(io.Discard, "/bin/true") })
		t.take("joy", func() { t.run("/bin/true") })
	}
	b.ReportMetric(t.of("joy")/t.of("bare"), "ratio")
}

// BenchmarkE2BSmall compares the taking of a thousand small files with the making of one tar of them and its transfer by HTTP
// alone: the time of the one over that of the other.
func BenchmarkE2BSmall(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1 << 10, "16KiB": 16 << 10} {
		b.Run(name, func(b *testing.B) {
			t := newTrack(b)
			const many = 1000
			t.run("sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do head -c %d /dev/zero >out/f$i; i=$((i+1)); done", many, size))
			caps := policy.Artifacts{MaxFile: benchSize, MaxTotal: benchSize, MaxFiles: many}
			server := "http://" + t.box.provider.Client.Place()
			for b.Loop() {
				t.take("tar", func() {
					t.bare(io.Discard, "/bin/sh", "-c", "tar cf /tmp/raw -C /.joy/scratch/worlds/bench/workspace out")
					require.Greater(b, t.raw(server, http.MethodGet, nil), int64(many*size))
				})
				t.take("collect", func() {
					files := 0
					_, err := t.world.Collect(b.Context(), caps, func(_ sandbox.Found, r io.Reader) error {
						files++
						_, err := io.Copy(io.Discard, r)
						return err
					})
					require.NoError(b, err)
					require.Equal(b, many, files)
				})
			}
			b.ReportMetric(t.of("tar")/1e6, "tar-ms")
			b.ReportMetric(t.of("collect")/1e6, "collect-ms")
			b.ReportMetric(t.of("collect")/t.of("tar"), "ratio")
		})
	}
}
