package guest

import (
	"io"
	"os/exec"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// maxPings bounds the commands of one measurement.
const maxPings = 64

// ping measures what the protocol is compared with: the bare channel, and commands that the guest itself forks and
// waits for, without a world.
func ping(p *guestproto.Ping, channel io.ReadWriter) guestproto.Reply {
	if p == nil {
		return guestproto.Reply{}
	}
	if _, err := io.Copy(io.Discard, channel); err != nil {
		return replyOf(err)
	}
	if err := pour(channel, p.Send); err != nil {
		return replyOf(err)
	}
	if len(p.Argv) == 0 {
		return guestproto.Reply{}
	}
	var group errgroup.Group
	begin := time.Now()
	for range min(max(p.Count, 1), maxPings) {
		cmd := exec.Command(p.Argv[0], p.Argv[1:]...) //nolint:noctx // a measurement asked for by the host
		group.Go(cmd.Run)
	}
	reply := replyOf(group.Wait())
	reply.Took = time.Since(begin)
	return reply
}

func pour(w io.Writer, n int64) error {
	buf := make([]byte, min(n, guestproto.MaxChunk))
	for n > 0 {
		k, err := w.Write(buf[:min(n, int64(len(buf)))])
		if err != nil {
			return err
		}
		n -= int64(k)
	}
	return nil
}
