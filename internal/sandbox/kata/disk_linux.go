package kata

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/sandbox/scratch"
)

// disk is a scratch disk as a block device, which Kata hands to its VM. Neither the file nor the device needs to be
// cleared away: the file has no name, and the kernel detaches the device when the last who has it open is gone.
type disk struct {
	loop   *os.File
	number uint64 // of the device
}

// newDisk makes a disk of so many bytes; dir has room for it.
func newDisk(dir string, size int64) (*disk, error) {
	file, err := scratch.New(dir, size)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// First: what somebody who looks at new devices reads of this one is kept by the kernel. Kata's own has no quotas.
	if err := scratch.Format(file, "")(); err != nil {
		return nil, err
	}
	loop, err := attach(file)
	if err != nil {
		return nil, fmt.Errorf("making the scratch disk: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(loop.Fd()), &st); err != nil {
		return nil, errors.Join(err, loop.Close())
	}
	return &disk{loop, st.Rdev}, nil
}

// attach makes file a loop device (loop(4)). Another process may take the free one first; then there is another.
func attach(file *os.File) (*os.File, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close()
	config := unix.LoopConfig{Fd: uint32(file.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
	for range 100 {
		free, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("finding a loop device: %w", err)
		}
		loop, err := os.OpenFile("/dev/loop"+strconv.Itoa(free), os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		if err = unix.IoctlLoopConfigure(int(loop.Fd()), &config); err == nil {
			return loop, nil
		}
		loop.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("setting up a loop device: %w", err)
		}
	}
	return nil, errors.New("every loop device is taken by others as soon as it is free")
}

// Close leaves the device to the VM alone.
func (d *disk) Close() error { return d.loop.Close() }
