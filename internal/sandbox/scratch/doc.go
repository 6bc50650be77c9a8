//go:build !linux

// Package scratch makes the disk that the worlds of a VM write to, on Linux.
package scratch
