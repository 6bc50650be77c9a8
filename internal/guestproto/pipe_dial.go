package guestproto

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrGone is in the tree of an error of a Dial after which no other can succeed.
var ErrGone = errors.New("the other end is gone")

// Dial brings one more carrier to the guest.
type Dial func(ctx context.Context) (io.ReadWriteCloser, error)

// DialPipe is the host's end of a pipe, which brings carriers for as long as it lives. It ends when it is closed, when
// dial says ErrGone, and when for patience no carrier has come to the guest; then Read and Write say why.
func DialPipe(dial Dial, patience time.Duration) *Pipe {
	p := NewPipe(true)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		p.mu.Lock()
		for p.err == nil {
			p.news.Wait()
		}
		p.mu.Unlock()
		cancel(p.Err())
	}()
	go p.keep(ctx, dial, patience)
	return p
}

// Pauses between two attempts to bring a carrier: the first, and the longest.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

func (p *Pipe) keep(ctx context.Context, dial Dial, patience time.Duration) {
	since, pause := time.Now(), firstPause
	for number := uint32(1); ; number++ {
		c, err := dial(ctx)
		up := false
		if err == nil {
			err = p.Carry(c, number, func() { up = true })
		}
		if up {
			since, pause = time.Now(), firstPause
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrGone), errors.Is(err, ErrBroken):
			p.Fail(err)
			return
		case time.Since(since) > patience:
			p.Fail(fmt.Errorf("no connection for %s: %w", patience, err))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longPause)
	}
}
