package digest

import (
	"bytes"
	"unicode/utf8"
)

// Content is one file as the VM will get it.
type Content struct {
	File      File
	Data      []byte // the bytes File.SHA256 names
	Converted bool   // the file on disk ends its lines in CRLF, Data in LF
}

// Pin pins one file from the bytes on disk, after the line end rule unless raw. It keeps no copy: Data is disk itself
// when nothing was converted.
func Pin(path, mode string, disk []byte, raw bool) Content {
	data, converted := disk, false
	if !raw {
		data, converted = unixLines(disk)
	}
	return Content{File{path, mode, int64(len(data)), sum(data)}, data, converted}
}

// Match returns the pinned bytes when disk is what f pins, as it is or by the line end rule; a checkout with either
// line end is the same file. Mode is not its business.
func (f File) Match(disk []byte) ([]byte, bool) {
	if sum(disk) == f.SHA256 {
		return disk, true
	}
	if lf, converted := unixLines(disk); converted && sum(lf) == f.SHA256 {
		return lf, true
	}
	return nil, false
}

// unixLines is the line end rule: a text file whose every line end is CRLF is taken with LF. Text is valid UTF-8
// without NUL that does not begin with %PDF. A lone CR or LF anywhere makes the ends mixed, and the file stays as it
// is; so does a file without a line end. What the rule yields holds no CR, so it never applies twice.
func unixLines(b []byte) ([]byte, bool) {
	crlf := bytes.Count(b, []byte("\r\n"))
	if crlf == 0 || crlf != bytes.Count(b, []byte{'\n'}) || crlf != bytes.Count(b, []byte{'\r'}) {
		return b, false
	}
	if bytes.HasPrefix(b, []byte("%PDF")) || bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) {
		return b, false
	}
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte{'\n'}), true
}
