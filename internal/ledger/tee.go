package ledger

import (
	"bytes"
	"io"
	"sync"
)

// tee hands lines to a writer that may be slow or stuck, such as a pager, without holding up who writes them. What
// waits is kept in memory: lines are small, for bodies are in the store.
type tee struct {
	w    io.Writer
	done chan struct{}

	mu      sync.Mutex
	more    *sync.Cond
	waiting [][]byte
	closed  bool
	err     error
}

func newTee(w io.Writer) *tee {
	t := &tee{w: w, done: make(chan struct{})}
	t.more = sync.NewCond(&t.mu)
	go t.run()
	return t
}

// put queues a copy of lines.
func (t *tee) put(lines []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.waiting = append(t.waiting, bytes.Clone(lines))
		t.more.Signal()
	}
}

func (t *tee) run() {
	defer close(t.done)
	for {
		waiting := t.next()
		if waiting == nil {
			return
		}
		for _, lines := range waiting {
			if _, err := t.w.Write(lines); err != nil {
				t.fail(err)
				return
			}
		}
	}
}

// next waits for lines; nil means that there are none and none will come.
func (t *tee) next() [][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) == 0 && !t.closed {
		t.more.Wait()
	}
	waiting := t.waiting
	t.waiting = nil
	return waiting
}

func (t *tee) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err, t.waiting = err, nil
}

// close waits until everything was handed on or the writer failed.
func (t *tee) close() {
	t.mu.Lock()
	t.closed = true
	t.more.Signal()
	t.mu.Unlock()
	<-t.done
}
