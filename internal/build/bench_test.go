package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// many makes an agent of n bundles of the median shape found in public repositories: two files, 10 KB.
func many(b testing.TB, n int) string {
	b.Helper()
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, SpecName), []byte("version: 1\nname: many\nskills: ['skills/*']\n"), 0o600))
	line := "Read the report, look for the totals and say in plain words what changed since last week.\n"
	for i := range n {
		at := filepath.Join(dir, "skills", fmt.Sprintf("skill-%04d", i))
		require.NoError(b, os.MkdirAll(at, 0o700))
		text := fmt.Sprintf("---\nname: skill-%04d\ndescription: Says what changed.\n---\n# Steps\n\n%s\n```bash\npython3 scripts/run.py\n```\n", i, strings.Repeat(line, 60))
		require.NoError(b, os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(text), 0o600))
		require.NoError(b, os.WriteFile(filepath.Join(at, "run.py"), bytes.Repeat([]byte("print('x')\n"), 400), 0o600))
	}
	return dir
}

// BenchmarkBuild is a whole build; time grows with the number of bundles. The aim for 1,000 is 3 s and 200 MB of heap
// taken from the system.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := many(b, n)
			debug.FreeOSMemory()
			b.ReportAllocs()
			for b.Loop() {
				res, err := Build(context.Background(), Options{Dir: dir})
				require.NoError(b, err)
				require.Len(b, res.Plan.Skills, n)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/bundle")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapSys-m.HeapReleased)/(1<<20), "MB-heap")
		})
	}
}

// TestManyBundles holds the aim with room for a busy machine, so that nothing that grows with the square gets in.
func TestManyBundles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	took := func(n int) time.Duration {
		dir := many(t, n)
		start := time.Now()
		_, err := Build(context.Background(), Options{Dir: dir})
		require.NoError(t, err)
		return time.Since(start)
	}
	took(10) // what happens once in a process
	small := max(took(100), 5*time.Millisecond)
	require.Less(t, took(1000), 60*small, "ten times the bundles take far more than ten times the time")
}
