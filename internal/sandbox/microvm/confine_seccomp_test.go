//go:build linux

package microvm

import (
	"encoding/binary"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter runs the program itself, for the calls that a test cannot make.
func TestFilter(t *testing.T) {
	table, err := arch.GetInfo("")
	require.NoError(t, err)
	var raw []bpf.RawInstruction
	for _, i := range filter(table) {
		raw = append(raw, bpf.RawInstruction{Op: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	program, whole := bpf.Disassemble(raw)
	require.True(t, whole)
	vm, err := bpf.NewVM(program)
	require.NoError(t, err)

	const native = 0
	denied, absent := unix.SECCOMP_RET_ERRNO|int(unix.EPERM), unix.SECCOMP_RET_ERRNO|int(unix.ENOSYS)
	for name, tc := range map[string]struct {
		arch uint32
		call uint32
		arg  uint32
		want int
	}{
		"a 32-bit read":             {0x40000003, 3, 0, absent}, // AUDIT_ARCH_I386
		"a call of x32":             {native, 0x40000000, 0, absent},
		"a number below zero":       {native, 1<<32 - 1, 0, absent},
		"the first that is denied":  {native, unix.SYS_SOCKET, 0, denied},
		"the last that is denied":   {native, uint32(table.SyscallNames[heldCalls[len(heldCalls)-1]]), 0, denied},
		"io_uring":                  {native, unix.SYS_IO_URING_SETUP, 0, denied},
		"another process's limits":  {native, unix.SYS_PRLIMIT64, 4711, denied},
		"its own limits":            {native, unix.SYS_PRLIMIT64, 0, unix.SECCOMP_RET_ALLOW},
		"read":                      {native, unix.SYS_READ, 0, unix.SECCOMP_RET_ALLOW},
		"what a start needs: exec":  {native, unix.SYS_EXECVE, 0, unix.SECCOMP_RET_ALLOW},
		"what a start needs: a uid": {native, unix.SYS_SETUID, 1000, unix.SECCOMP_RET_ALLOW},
		"QEMU's own filter":         {native, unix.SYS_SECCOMP, 0, unix.SECCOMP_RET_ALLOW},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.arch == native {
				tc.arch = uint32(table.ID)
			}
			// struct seccomp_data, in the byte order of package bpf: number, architecture, instruction, arguments.
			data := make([]byte, 64)
			binary.BigEndian.PutUint32(data, tc.call)
			binary.BigEndian.PutUint32(data[4:], tc.arch)
			binary.BigEndian.PutUint32(data[16:], tc.arg)
			got, err := vm.Run(data)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

// TestHeldCallsAreKnown: a name that is misspelt would hold nothing.
func TestHeldCallsAreKnown(t *testing.T) {
	for _, name := range heldCalls {
		_, amd64 := arch.X86_64.SyscallNames[name]
		_, arm64 := arch.AARCH64.SyscallNames[name]
		require.True(t, amd64 || arm64, name)
	}
}
