package ledger_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/ledger"
)

// BenchmarkSixteenWriters says how many durable entries sixteen writers append, as a part of what one sync for each
// sixteen would allow. Both sides are taken in turns, since disks are fast and slow by the minute. At least 0.5 is promised.
// A round begins and ends with groups that are not full, for its writers do not start and stop together: it is long enough that
// those are few of it.
func BenchmarkSixteenWriters(b *testing.B) {
	const writers, each, syncs = 16, 100, 100
	dir := b.TempDir()
	plain, err := os.Create(filepath.Join(dir, "plain"))
	require.NoError(b, err)
	defer plain.Close()
	w, err := ledger.Create(dir, "r", plan, ledger.Options{})
	require.NoError(b, err)
	_, err = w.Effect(ledger.RunStarted, "", nil)
	require.NoError(b, err)
	line := make([]byte, 400)
	var took []time.Duration
	var syncing, appending time.Duration
	entries := 0
	for b.Loop() {
		for range syncs {
			_, err := plain.Write(line)
			start := time.Now()
			if err != nil || unix.Fdatasync(int(plain.Fd())) != nil {
				b.Fatal("the disk does not take it")
			}
			took = append(took, time.Since(start))
			syncing += took[len(took)-1]
		}
		start := time.Now()
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for range each {
					if _, err := w.Effect(ledger.CommandStarted, "render", ledger.Data{"command": "true", "bytes": 4}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		appending += time.Since(start)
		entries += writers * each
	}
	require.NoError(b, w.Close())
	slices.Sort(took)
	median := took[len(took)/2]
	rate := float64(entries) / appending.Seconds()
	b.ReportMetric(rate, "entries/s")
	b.ReportMetric(rate*median.Seconds()/writers, "ideal-ratio")
	// Where others use the machine, most syncs are quick and few are very slow: by the mean, both sides have their share.
	b.ReportMetric(rate*syncing.Seconds()/float64(len(took))/writers, "by-mean-ratio")
}
