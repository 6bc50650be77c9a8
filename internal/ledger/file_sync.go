//go:build !linux

package ledger

import "os"

// datasync puts the file on the disk. On macOS, Sync is F_FULLFSYNC, without which the drive may still hold it.
func datasync(f *os.File) error { return f.Sync() }
