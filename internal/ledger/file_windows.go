package ledger

import (
	"os"

	"golang.org/x/sys/windows"
)

// noFollow has no counterpart here: making a link takes a privilege, and Reopen looks before it opens.
const noFollow = 0

// lock takes the writer's lock, which ends with the file's close or the process; it does not wait. It lies on one
// byte far beyond the file's end, since a lock here would keep readers from the bytes it covers.
func lock(f *os.File) error {
	beyond := windows.Overlapped{OffsetHigh: 0x7fffffff}
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &beyond)
}

// syncDir does nothing: NTFS journals names itself.
func syncDir(string) error { return nil }
