package guest

import "golang.org/x/sys/unix"

// gauge is a number in a flat-keyed cgroup file that is read after every command. Its file stays open: an emulated CPU
// takes ten times as long to open and close it as to read it. It is a bare descriptor, since Go's poller would be woken by
// each change of such a file. A gauge is one goroutine's at a time.
type gauge struct {
	file, key string
	fd        int // 0 before the first look, -1 after Close
}

// read is the number, and false when it cannot be told.
func (g *gauge) read() (int, bool) {
	if g.fd == 0 {
		fd, err := unix.Open(g.file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return 0, false
		}
		g.fd = fd
	}
	var body [512]byte // the longest of these files has six lines
	n, err := unix.Pread(g.fd, body[:], 0)
	if err != nil {
		return 0, false
	}
	return numberOf(body[:n], g.key), true
}

// Close ends the gauge: it tells nothing any more.
func (g *gauge) Close() {
	if g.fd > 0 {
		unix.Close(g.fd)
	}
	g.fd = -1
}
