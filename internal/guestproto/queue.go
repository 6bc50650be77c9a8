package guestproto

// queue is bytes in a row: added at one end and taken from the other. It keeps its memory, which is at most twice the most
// that it ever held.
type queue struct {
	buf  []byte
	head int
}

func (q *queue) len() int { return len(q.buf) - q.head }

// bytes are what it holds, until the next add.
func (q *queue) bytes() []byte { return q.buf[q.head:] }

func (q *queue) add(b []byte) {
	if len(q.buf)+len(b) > cap(q.buf) && q.head >= q.len() { // moved less than was taken since
		q.buf = q.buf[:copy(q.buf, q.bytes())]
		q.head = 0
	}
	q.buf = append(q.buf, b...)
}

func (q *queue) drop(n int) {
	if q.head += n; q.head == len(q.buf) {
		q.buf, q.head = q.buf[:0], 0
	}
}
