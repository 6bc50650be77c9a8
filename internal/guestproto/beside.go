package guestproto

import "strconv"

// Where the host reaches a VM's files in a faster way than through the session, a file of Bulk bytes or more, or so many
// bytes of smaller ones together, lies in the directory BesideDir of its world for a moment (docs/guest-protocol.md, "Beside the session"). No world sees that
// directory. A file's name is a number that is given once: the host's by the host, the guest's by the guest.
const (
	BesideDir = "beside"
	Bulk      = 256 << 10
)

// Records of a header in the tar of a put: the entry is empty, and the file is BesideIn of a number, of so many bytes.
const (
	RecordBeside = "JOY.beside"
	RecordSize   = "JOY.size"
)

// BesideIn is the name of a file that the host brought.
func BesideIn(n int) string { return "in-" + strconv.Itoa(n) }

// BesideOut is the name of a file that the guest lays out for the host.
func BesideOut(n int) string { return "out-" + strconv.Itoa(n) }
