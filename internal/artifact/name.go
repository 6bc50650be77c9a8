package artifact

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// devices are the names that Windows takes for devices in every directory, whatever follows a dot
// (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
var devices = strings.Fields("CON PRN AUX NUL CONIN$ CONOUT$ " +
	"COM0 COM1 COM2 COM3 COM4 COM5 COM6 COM7 COM8 COM9 COM¹ COM² COM³ " +
	"LPT0 LPT1 LPT2 LPT3 LPT4 LPT5 LPT6 LPT7 LPT8 LPT9 LPT¹ LPT² LPT³")

// SafePath is the path below a directory under which an artifact called name is written. It is the same on every system:
// what one of them would take for something else than a part of a name is spelled as %XX, byte for byte. That is what
// leaves the directory, separates, names a device, a stream or git's own directory, begins an option, cannot be seen, or is
// dropped at a name's end. Two names may have one path, which who writes must refuse.
func SafePath(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = safePart(part)
	}
	return strings.Join(parts, "/")
}

func safePart(part string) string {
	if part == "" {
		return "_"
	}
	base, _, _ := strings.Cut(strings.ToUpper(part), ".")
	taken := slices.Contains(devices, strings.TrimRight(base, " ")) || part[0] == '-' ||
		strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1")
	var b strings.Builder
	for i := 0; i < len(part); {
		r, size := utf8.DecodeRuneInString(part[i:])
		last := i+size == len(part)
		switch {
		case i == 0 && taken, last && (r == '.' || r == ' '), r == utf8.RuneError && size == 1,
			!unicode.IsGraphic(r), strings.ContainsRune(`<>:"\|?*`, r):
			for _, c := range []byte(part[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		default:
			b.WriteString(part[i : i+size])
		}
		i += size
	}
	return b.String()
}
