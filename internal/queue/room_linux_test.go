package queue

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

const meminfo = "MemTotal:        8388608 kB\nMemFree:          100000 kB\nMemAvailable:    4194304 kB\n"

func TestMeasureMemory(t *testing.T) {
	const v2 = "0::/user.slice/job\n"
	for name, tc := range map[string]struct {
		files       map[string]string
		total, free int64 // MiB
		err         string
	}{
		"nothing to read":   {map[string]string{}, 0, 0, "meminfo"},
		"not a memory file": {map[string]string{"/proc/meminfo": "hello\n\nMemTotal: many kB\n"}, 0, 0, "does not say"},
		"no cgroup":         {map[string]string{"/proc/meminfo": meminfo}, 8192, 4096, ""},
		"version 2 without a limit": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": v2,
			"/sys/fs/cgroup/user.slice/job/memory.max": "max\n", "/sys/fs/cgroup/user.slice/job/memory.current": "1048576\n",
		}, 8192, 4096, ""},
		"version 2 with a limit; what can be dropped is free": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": v2,
			"/sys/fs/cgroup/user.slice/job/memory.max": "1073741824\n", "/sys/fs/cgroup/user.slice/job/memory.current": "536870912\n",
			"/sys/fs/cgroup/user.slice/job/memory.stat": "anon 1\ninactive_file 104857600\n",
		}, 1024, 612, ""},
		"version 2, a limit above": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": v2,
			"/sys/fs/cgroup/user.slice/memory.max": "2147483648\n", "/sys/fs/cgroup/user.slice/memory.current": "0\n",
			"/sys/fs/cgroup/user.slice/job/memory.max": "max\n", "/sys/fs/cgroup/user.slice/job/memory.current": "0\n",
		}, 2048, 2048, ""},
		"a container that sees its own root only": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/../../elsewhere\n",
			"/sys/fs/cgroup/memory.max": "1073741824\n", "/sys/fs/cgroup/memory.current": "0\n",
		}, 1024, 1024, ""},
		"version 1": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "5:cpu:/\n4:memory:/box\n0::/\n",
			"/sys/fs/cgroup/memory/box/memory.limit_in_bytes": "1073741824\n", "/sys/fs/cgroup/memory/box/memory.usage_in_bytes": "1073741824\n",
			"/sys/fs/cgroup/memory/box/memory.stat": "total_inactive_file 1048576\n",
		}, 1024, 1, ""},
		"version 1 without a limit": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "4:memory:/box\n",
			"/sys/fs/cgroup/memory/box/memory.limit_in_bytes": "9223372036854771712\n", "/sys/fs/cgroup/memory/box/memory.usage_in_bytes": "9\n",
		}, 8192, 4096, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := measure(t.TempDir(), func(name string) ([]byte, error) {
				text, ok := tc.files[name]
				if !ok {
					return nil, errors.Join(errors.New(name), fs.ErrNotExist)
				}
				return []byte(text), nil
			})
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.total, got.MemoryTotal/mib)
			require.Equal(t, tc.free, got.MemoryFree/mib)
			require.Positive(t, got.DiskTotal)
			require.LessOrEqual(t, got.DiskFree, got.DiskTotal)
		})
	}
}

func TestMeasureThisMachine(t *testing.T) {
	got, err := Measure(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, got.MemoryFree)
	_, err = Measure("/no/such/place")
	require.ErrorContains(t, err, "/no/such/place")
}
