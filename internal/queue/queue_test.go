package queue

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

const mib = 1 << 20

func room(memory, disk int64) Room {
	return Room{MemoryTotal: memory * mib, MemoryFree: memory * mib, DiskTotal: disk * mib, DiskFree: disk * mib}
}

func fixed(r Room) func(string) (Room, error) { return func(string) (Room, error) { return r, nil } }

func TestPossible(t *testing.T) {
	for name, tc := range map[string]struct {
		need Need
		want string
	}{
		"more memory than there is":      {Need{2048 * mib, 100 * mib}, "needs 2176MiB of memory (2GiB and 128MiB for its process), and this machine has 1.0 GiB in all"},
		"no memory left for the process": {Need{1000 * mib, 100 * mib}, "needs 1128MiB of memory"},
		"more disk than there is":        {Need{512 * mib, 4096 * mib}, "may use 4GiB of disk, and the file system of /var/tmp has 512 MiB in all"},
		"both fit":                       {Need{512 * mib, 512 * mib}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			q := &Queue{Scratch: "/var/tmp", Measure: fixed(room(1024, 512))}
			err := q.Possible(tc.need)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			var never *ErrNever
			require.ErrorAs(t, err, &never)
			require.ErrorContains(t, err, tc.want)
		})
	}
	q := &Queue{Measure: func(string) (Room, error) { return Room{}, errors.New("no /proc") }}
	require.ErrorContains(t, q.Possible(Need{}), "no /proc")
}

func TestObstacle(t *testing.T) {
	mine := ticket{Seq: 5, Need: Need{512 * mib, 1024 * mib}}
	vm, before, after := ticket{Seq: 1, VM: true}, ticket{Seq: 2}, ticket{Seq: 9}
	for name, tc := range map[string]struct {
		others   []ticket
		max      int
		free     Room
		promised Need
		want     string
	}{
		"alone":                      {nil, 0, room(4096, 4096), Need{}, ""},
		"alone on a full machine":    {nil, 0, room(10, 10), Need{}, ""},
		"who came later is no help":  {[]ticket{after}, 0, room(10, 10), Need{}, ""},
		"beside another":             {[]ticket{vm}, 0, room(4096, 4096), Need{1024 * mib, 1024 * mib}, ""},
		"exactly what is left":       {[]ticket{vm}, 0, room(1664, 2048), Need{1024 * mib, 1024 * mib}, ""},
		"a byte too little":          {[]ticket{vm}, 0, room(1664, 2048), Need{1024*mib + 1, 1024 * mib}, "needs 640 MiB of memory; 1 VM that runs may still need 1.0 GiB of the 1.6 GiB"},
		"no disk":                    {[]ticket{vm, vm}, 0, room(4096, 2048), Need{0, 1024*mib + 1}, "needs 1.0 GiB of disk in /tmp; 2 VMs that run"},
		"more promised than free":    {[]ticket{vm}, 0, room(100, 4096), Need{2048 * mib, 0}, "of memory"},
		"max_vms":                    {[]ticket{vm, vm}, 2, room(9000, 9000), Need{}, "2 VMs run, and the setting max_vms is 2"},
		"below max_vms":              {[]ticket{vm}, 2, room(9000, 9000), Need{}, ""},
		"somebody came before":       {[]ticket{vm, before}, 0, room(9000, 9000), Need{}, "1 came before"},
		"somebody came before alone": {[]ticket{before}, 0, room(9000, 9000), Need{}, "1 came before"},
	} {
		t.Run(name, func(t *testing.T) {
			got := (&Queue{MaxVMs: tc.max, Scratch: "/tmp"}).obstacle(mine, tc.others, tc.free, tc.promised)
			if tc.want == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, tc.want)
		})
	}
}
