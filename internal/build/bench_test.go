package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkBuild400 builds 400 bundles of the median shape found in public repositories: two files, 10 KB. The aim is
// 2 s and 150 MB of heap taken from the system.
func BenchmarkBuild400(b *testing.B) {
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, SpecName), []byte("version: 1\nname: many\nskills: ['skills/*']\n"), 0o600))
	line := "Read the report, look for the totals and say in plain words what changed since last week.\n"
	for i := range 400 {
		at := filepath.Join(dir, "skills", fmt.Sprintf("skill-%03d", i))
		require.NoError(b, os.MkdirAll(at, 0o700))
		text := fmt.Sprintf("---\nname: skill-%03d\ndescription: Says what changed.\n---\n# Steps\n\n%s\n```bash\npython3 scripts/run.py\n```\n", i, strings.Repeat(line, 60))
		require.NoError(b, os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(text), 0o600))
		require.NoError(b, os.WriteFile(filepath.Join(at, "run.py"), bytes.Repeat([]byte("print('x')\n"), 400), 0o600))
	}
	b.ResetTimer()
	for range b.N {
		res, err := Build(context.Background(), Options{Dir: dir})
		require.NoError(b, err)
		require.Len(b, res.Plan.Skills, 400)
	}
	b.StopTimer()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/(1<<20), "MB-heap")
}
