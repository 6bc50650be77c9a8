package plan

import (
	"path"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
)

// CleanPath reports whether p may be joined to a directory and stays below it on every system: relative, slashes, no
// empty, "." or ".." element, and every element a name that digest.CheckName takes.
func CleanPath(p string) bool {
	if p == "" || path.Clean(p) != p {
		return false
	}
	for _, name := range strings.Split(p, "/") {
		if digest.CheckName(name) != nil {
			return false
		}
	}
	return true
}
