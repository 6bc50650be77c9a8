package guestproto

import "time"

// ring holds what has arrived and is not read yet. It grows to what is needed and no further.
type ring struct {
	buf      []byte
	start, n int
}

// space is where the next bytes go: at most want of them, in one piece. Together with what is held they are never more
// than most.
func (r *ring) space(want, most int) []byte {
	if r.n == 0 {
		r.start = 0
	}
	if need := r.n + want; need > len(r.buf) {
		size := max(512, len(r.buf))
		for size < need {
			size *= 2
		}
		buf := make([]byte, min(size, most))
		*r = ring{buf: buf, n: r.read(buf)}
	}
	end := (r.start + r.n) % len(r.buf)
	return r.buf[end:min(end+want, len(r.buf))]
}

func (r *ring) read(p []byte) int {
	total := 0
	for r.n > 0 && total < len(p) {
		piece := r.buf[r.start:min(r.start+r.n, len(r.buf))]
		k := copy(p[total:], piece)
		total += k
		r.start = (r.start + k) % len(r.buf)
		r.n -= k
	}
	return total
}

// deadline is a time after which waiting ends. Its channel, once it has passed, is closed.
type deadline struct {
	timer *time.Timer
	c     chan struct{}
}

func (d *deadline) set(t time.Time) {
	d.stop()
	if t.IsZero() {
		return
	}
	c := make(chan struct{})
	d.c = c
	if wait := time.Until(t); wait > 0 {
		d.timer = time.AfterFunc(wait, func() { close(c) })
		return
	}
	close(c)
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
	*d = deadline{}
}

// passed is closed when the time has come; nil when there is none.
func (d *deadline) passed() <-chan struct{} { return d.c }

func over(passed <-chan struct{}) bool {
	select {
	case <-passed:
		return true
	default:
		return false
	}
}
