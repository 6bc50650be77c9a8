// Package queue decides how many VMs of one user run at once: as many as memory and disk have room for.
//
// The one rule: a place is an open file that is locked. Its holder's death, however it comes, gives the place back at
// once; nothing has to be cleaned up, no process serves the queue, and no number can be wrong after a crash.
package queue

import (
	"context"
	"fmt"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/state"
)

// Overhead is what a VM's own process needs beside the memory of the VM, in bytes: mostly translated code, when it is
// emulated.
const Overhead = 128 << 20

// Queue is the queue of one user. Everyone who uses the same Dir stands in it.
type Queue struct {
	Dir     string // absolute, on a disk; made when it is missing
	Scratch string // the directory of the VMs' scratch disks
	MaxVMs  int    // VMs at once, whatever there is room for; 0: no such limit
	// Measure tells what the machine has; nil measures it.
	Measure func(scratch string) (Room, error)
}

// Need is what one VM may come to use, in bytes.
type Need struct {
	Memory int64 `json:"memory"` // of the VM, without Overhead
	Disk   int64 `json:"disk"`
}

// Room is what a machine has, in bytes, cgroups considered. Free is what VMs that run have left of it.
type Room struct {
	MemoryTotal, MemoryFree int64
	DiskTotal, DiskFree     int64
}

// ErrNever is the error of Possible: no waiting helps. Of is the limit of the plan that is too high: memory or disk.
type ErrNever struct {
	Of         string
	Need, Have int64
	Where      string // of the disk
}

func (e *ErrNever) Error() string {
	if e.Of == "disk" {
		return fmt.Sprintf("the VM may use %s of disk, and the file system of %s has %s in all", policy.Size(e.Need), e.Where, about(e.Have))
	}
	return fmt.Sprintf("the VM needs %s of memory (%s and %s for its process), and this machine has %s in all",
		policy.Size(e.Need), policy.Size(e.Need-Overhead), policy.Size(Overhead), about(e.Have))
}

// Possible is nil when this machine, with nothing else on it, has room for the VM, and *ErrNever when it has not.
func (q *Queue) Possible(n Need) error {
	room, err := q.measure()
	if err != nil {
		return err
	}
	switch {
	case n.Memory+Overhead > room.MemoryTotal:
		return &ErrNever{Of: "memory", Need: n.Memory + Overhead, Have: room.MemoryTotal}
	case n.Disk > room.DiskTotal:
		return &ErrNever{Of: "disk", Need: n.Disk, Have: room.DiskTotal, Where: q.Scratch}
	}
	return nil
}

func (q *Queue) measure() (Room, error) {
	measure := q.Measure
	if measure == nil {
		measure = Measure
	}
	room, err := measure(q.Scratch)
	if err != nil {
		return room, fault.Wrap(fault.Platform, err, "measure the machine")
	}
	return room, nil
}

// Enter waits until there is room for the VM of run and nobody who came earlier still waits. waiting is called once,
// before the wait, with its reason; may be nil. The caller calls leave when the VM is gone. Cancelling ctx ends the wait
// with its error.
func (q *Queue) Enter(ctx context.Context, run string, n Need, waiting func(reason string)) (leave func(), err error) {
	return q.enter(ctx, run, n, waiting)
}

// ticket is what a place's file says of its holder.
type ticket struct {
	Seq    int           `json:"seq"` // who comes first has the lower
	Run    string        `json:"run"`
	Holder state.Process `json:"holder"`
	Need   Need          `json:"need"`
	VM     bool          `json:"vm"` // its VM may run; else it waits
}

// obstacle says why the VM of mine must wait, or "". promised is what the VMs that run may still come to use.
func (q *Queue) obstacle(mine ticket, others []ticket, room Room, promised Need) string {
	running, before := 0, 0
	for _, t := range others {
		switch {
		case t.VM:
			running++
		case t.Seq < mine.Seq:
			before++
		}
	}
	memory := mine.Need.Memory + Overhead
	switch {
	case running == 0 && before == 0:
		// What takes the room is not ours and may never go away: the plan fits this machine, and it is tried.
		return ""
	case q.MaxVMs > 0 && running >= q.MaxVMs:
		return fmt.Sprintf("%s, and the setting max_vms is %d", run(running), q.MaxVMs)
	case memory > room.MemoryFree-promised.Memory:
		return fmt.Sprintf("its VM needs %s of memory; %s may still need %s of the %s that are free",
			about(memory), vms(running), about(promised.Memory), about(room.MemoryFree))
	case mine.Need.Disk > room.DiskFree-promised.Disk:
		return fmt.Sprintf("its VM needs %s of disk in %s; %s may still need %s of the %s that are free",
			about(mine.Need.Disk), q.Scratch, vms(running), about(promised.Disk), about(room.DiskFree))
	case before > 0:
		return fmt.Sprintf("%d came before and wait for a VM", before)
	}
	return ""
}

func vms(n int) string {
	if n == 1 {
		return "1 VM that runs"
	}
	return fmt.Sprintf("%d VMs that run", n)
}

func run(n int) string {
	if n == 1 {
		return "1 VM runs"
	}
	return fmt.Sprintf("%d VMs run", n)
}

// about is a number of bytes as a person would say it.
func about(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", max(n, 0)>>20)
}
