package broker

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/egress"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/policy"
)

// helloLimit bounds how long a client may take to say whom it wants in an open tunnel: as long as a connection may be idle.
// In an emulated VM on a busy machine a client that has the CONNECT's answer may have work for a minute before its hello.
const helloLimit = idleLimit

// connect serves CONNECT (RFC 9110, section 9.3.6) to a host that the step is granted: judge the name, look it up once,
// judge the addresses, record, connect, and carry TLS for that name only.
func (b *Broker) connect(w http.ResponseWriter, r *http.Request) {
	g := grantOf(r)
	a := b.account(g.step)
	if err := b.enter(g.step); err != nil {
		b.denyEgress(g.step, r.Host, err)
		refuse(w, http.StatusTooManyRequests, "too_many", err.Error())
		return
	}
	defer a.leave()
	host, addrs, err := b.judgeHost(r.Context(), g, a, r.Host)
	if err != nil {
		b.denyEgress(g.step, r.Host, err)
		refuse(w, http.StatusForbidden, "denied", "denied by plan, do not retry: "+err.Error())
		return
	}
	list := make([]string, len(addrs))
	for i, addr := range addrs {
		list[i] = addr.String()
	}
	seq, err := b.cfg.Ledger.Effect(ledger.EgressAllowed, g.step, ledger.Data{"host": host, "port": egress.Port, "addresses": list, "token": g.id})
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "unrecorded", "what cannot be recorded does not happen")
		return
	}
	begun := b.cfg.Now()
	d := ledger.Data{"of": seq, "host": host}
	up, down, err := b.tunnel(w, r, host, addrs, d)
	d["up"], d["down"], d["ms"] = up, down, b.cfg.Now().Sub(begun).Milliseconds()
	if err != nil {
		d["reason"] = err.Error()
	}
	_, _ = b.cfg.Ledger.Append(ledger.EgressClosed, g.step, d)
}

// judgeHost decides on the authority of a CONNECT. The name is looked up only when the step is granted it.
func (b *Broker) judgeHost(ctx context.Context, g *grant, a *account, authority string) (string, []netip.Addr, error) {
	host, err := egress.Host(authority)
	if err != nil {
		return "", nil, err
	}
	by, granted := policy.CoveredBy(g.terms.Egress, host)
	if !granted {
		return host, nil, egress.NotGranted
	}
	if strings.HasPrefix(by, "*") && !a.name(by, host) {
		return host, nil, egress.TooManyNames
	}
	addrs, err := b.cfg.Dialer.Resolve(ctx, host)
	return host, addrs, err
}

// tunnel connects, answers the client, and relays when its first bytes are TLS for host. It fills d with the address
// that was reached.
func (b *Broker) tunnel(w http.ResponseWriter, r *http.Request, host string, addrs []netip.Addr, d ledger.Data) (up, down int64, err error) {
	upstream, reached, err := b.cfg.Dialer.Connect(r.Context(), addrs)
	if err != nil {
		refuse(w, http.StatusBadGateway, "unreachable", host+" could not be reached")
		return 0, 0, egress.Unreachable
	}
	defer upstream.Close()
	d["address"] = reached.String()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return 0, 0, errors.New("the connection cannot be taken over")
	}
	conn, buffered, err := hijacker.Hijack()
	if err != nil {
		return 0, 0, egress.NoTunnelReply
	}
	defer conn.Close()
	client := &rewound{Conn: conn, r: buffered.Reader}
	_ = conn.SetDeadline(time.Now().Add(helloLimit))
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return 0, 0, egress.NoTunnelReply
	}
	name, hello, err := egress.ReadHello(r.Context(), client)
	switch {
	case err == nil && name != host:
		err = egress.OtherName
	case err != nil && len(hello) == 0:
		err = egress.NoTunnelReply
	}
	if err != nil {
		b.denyEgress(grantOf(r).step, r.Host, err)
		return 0, 0, err
	}
	_ = conn.SetDeadline(time.Time{})
	up, down = egress.Relay(b.life, client, upstream, hello)
	return up, down, nil
}

// denyEgress records a refused destination and counts it.
func (b *Broker) denyEgress(step, authority string, why error) {
	b.record(step, ledger.Data{"to": "host", "host": b.shown(authority), "reason": why.Error()})
}

// rewound is a connection whose first bytes the HTTP server has already read.
type rewound struct {
	net.Conn
	r interface{ Read([]byte) (int, error) }
}

func (c *rewound) Read(b []byte) (int, error) { return c.r.Read(b) }

// CloseWrite passes a half-close on where the connection has one.
func (c *rewound) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
