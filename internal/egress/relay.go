package egress

import (
	"context"
	"io"
	"net"
	"sync"
)

// Relay carries bytes between client and upstream until both directions have ended or ctx has, closes both, and returns
// how many bytes went each way. The bytes in hello go up first.
func Relay(ctx context.Context, client, upstream net.Conn, hello []byte) (up, down int64) {
	shut := sync.OnceFunc(func() {
		client.Close()
		upstream.Close()
	})
	defer shut()
	defer context.AfterFunc(ctx, shut)()
	var both sync.WaitGroup
	both.Go(func() {
		n, err := upstream.Write(hello)
		up = int64(n)
		if err == nil {
			var more int64
			more, err = io.Copy(upstream, client)
			up += more
		}
		finish(upstream, err, shut)
	})
	both.Go(func() {
		var err error
		down, err = io.Copy(client, upstream)
		finish(client, err, shut)
	})
	both.Wait()
	return up, down
}

// finish passes the end of one direction on. Where it cannot be passed on, or the direction broke, both end.
func finish(to net.Conn, err error, shut func()) {
	half, ok := to.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		shut()
	}
}
