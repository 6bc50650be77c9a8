package image

import (
	"fmt"
	"io"
)

// cpioWriter writes the "newc" form that the kernel unpacks as its initramfs, with nothing in it that differs
// between two machines: times are 0, inode numbers count up, everything belongs to root. The form:
// https://docs.kernel.org/driver-api/early-userspace/buffer-format.html
type cpioWriter struct {
	w   io.Writer
	ino int
	n   int64 // bytes written
	err error // the first failure; nothing is written after it
}

// Type bits of a cpio mode, as in stat(2).
const (
	cpioDir  = 0o040000
	cpioChar = 0o020000
	cpioFile = 0o100000
)

func (c *cpioWriter) dir(name string) { c.entry(name, cpioDir|0o755, 0, 0, nil) }

func (c *cpioWriter) file(name string, perm uint32, data []byte) {
	c.entry(name, cpioFile|perm, 0, 0, data)
}

func (c *cpioWriter) char(name string, perm, major, minor uint32) {
	c.entry(name, cpioChar|perm, major, minor, nil)
}

// close ends the archive and gives the first error of all calls.
func (c *cpioWriter) close() error {
	c.entry("TRAILER!!!", 0, 0, 0, nil)
	return c.err
}

func (c *cpioWriter) entry(name string, mode, major, minor uint32, data []byte) {
	links := 1
	if mode&cpioDir != 0 {
		links = 2
	}
	ino := 0
	if mode != 0 { // the trailer has none
		c.ino++
		ino = c.ino
	}
	// magic, ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
	c.write([]byte(fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		ino, mode, 0, 0, links, 0, len(data), 0, 0, major, minor, len(name)+1, 0)))
	c.write([]byte(name + "\x00"))
	c.pad()
	c.write(data)
	c.pad()
}

// pad fills up to a multiple of four bytes, counted from the start of the archive.
func (c *cpioWriter) pad() { c.write(make([]byte, -c.n&3)) }

func (c *cpioWriter) write(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.err = err
}
