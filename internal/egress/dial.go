package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// Limits of one connection.
const (
	lookupLimit = 10 * time.Second
	dialLimit   = 10 * time.Second // for each address
	maxAnswers  = 16
)

// Dialer looks names up and connects. The zero value uses the machine's resolver and network.
type Dialer struct {
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Resolve looks host up, once. Every answer must be public, or the name is refused: whoever mixes them in wants the
// next look-up to give the other one.
func (d Dialer) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	lookup := d.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			// The dot keeps the search list of the machine out of it.
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host+".")
		}
	}
	found, err := lookup(ctx, host)
	if err != nil || len(found) == 0 {
		return nil, NotFound
	}
	for i, a := range found {
		// The resolver gives IPv4 addresses in their mapped form.
		if found[i] = a.Unmap(); !Public(found[i]) {
			return nil, NotPublic
		}
	}
	return found[:min(len(found), maxAnswers)], nil
}

// Connect connects to the first of addrs that answers. The name plays no part any more.
func (d Dialer) Connect(ctx context.Context, addrs []netip.Addr) (net.Conn, netip.Addr, error) {
	dial := d.Dial
	if dial == nil {
		dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			var plain net.Dialer
			return plain.DialContext(ctx, "tcp", to.String())
		}
	}
	for _, a := range addrs {
		limited, cancel := context.WithTimeout(ctx, dialLimit)
		conn, err := dial(limited, netip.AddrPortFrom(a, 443))
		cancel()
		if err == nil {
			return conn, a, nil
		}
		if ctx.Err() != nil {
			return nil, netip.Addr{}, errors.Join(Unreachable, ctx.Err())
		}
	}
	return nil, netip.Addr{}, Unreachable
}
