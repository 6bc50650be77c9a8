package guestproto

import "bytes"

const (
	// MaxDepth bounds the directories within one another below /workspace/out.
	MaxDepth = 64
	// MaxPath is the longest path that MaxDepth and the kernel's 255 bytes a name allow.
	MaxPath = (MaxDepth + 1) * 256
	// MaxNamed bounds what is reported as skipped by name, for each reason. A skip with a Count tells how many more there
	// were: a workload can make entries without end, and nobody reads a hundred thousand lines.
	MaxNamed = 20
)

// SkipReasons are the words of sandbox.Skip that a guest may say.
var SkipReasons = map[string]bool{
	"link": true, "device": true, "fifo": true, "socket": true, "too-large": true, "total": true, "count": true,
	"depth": true, "unreadable": true, "not-a-directory": true,
}

// ComparePaths orders paths as a walk meets them that takes each directory's names in order of their bytes: a/b before
// a.txt. Collect sends files in this order.
func ComparePaths(a, b []byte) int {
	for {
		x, restA, moreA := bytes.Cut(a, []byte("/"))
		y, restB, moreB := bytes.Cut(b, []byte("/"))
		switch c := bytes.Compare(x, y); {
		case c != 0:
			return c
		case !moreA && !moreB:
			return 0
		case !moreA:
			return -1
		case !moreB:
			return 1
		}
		a, b = restA, restB
	}
}
