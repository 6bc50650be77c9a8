package digest

import (
	"slices"
	"strconv"
	"strings"
)

// Modes a pinned file can have.
const (
	ModePlain = "0644"
	ModeExec  = "0755"
)

// File pins one file by what the VM will get. Its fields are those of plan.File in the same order, so that one
// converts to the other.
type File struct {
	Path   string `json:"path"`   // relative to the bundle, forward slashes, NFC
	Mode   string `json:"mode"`   // ModePlain or ModeExec
	Size   int64  `json:"size"`   // of the pinned bytes
	SHA256 string `json:"sha256"` // 64 hex digits, of the pinned bytes
}

// treeHeader is the version of the manifest, of the ignore list and of the line end rule together.
const treeHeader = "joy-tree 1\n"

// Tree names a set of files, in whatever order they are given: Bytes of a manifest that begins with "joy-tree 1\n" and
// has, sorted bytewise by path, one line for each file:
//
//	4:0755,64:<sha256>,3:512,13:scripts/go.sh,\n
//
// that is mode, sha256, size and path, each as a netstring (its length in bytes, a colon, the bytes, a comma;
// https://cr.yp.to/proto/netstrings.txt). Lengths come first, so no choice of names makes two sets look alike.
// No file at all has a name too.
func Tree(files []File) string {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	b := []byte(treeHeader)
	for _, f := range sorted {
		for _, field := range [...]string{f.Mode, f.SHA256, strconv.FormatInt(f.Size, 10), f.Path} {
			b = strconv.AppendInt(b, int64(len(field)), 10)
			b = append(b, ':')
			b = append(b, field...)
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	return Bytes(b)
}
