package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// maxHello bounds what is read of a client before it has said whom it wants: a ClientHello with post-quantum keys has
// about 2 KiB.
const maxHello = 32 << 10

var errSeen = errors.New("the hello was read")

// ReadHello reads a TLS ClientHello from r and returns the server name in it, lower case and without a trailing dot, and
// the bytes read, which must be sent on. Anything else is NotTLS; a hello without a name gives "".
func ReadHello(ctx context.Context, r io.Reader) (name string, raw []byte, err error) {
	var seen bytes.Buffer
	found := false
	conn := helloConn{r: io.TeeReader(io.LimitReader(r, maxHello), &seen)}
	// The standard library's own parser: the handshake ends where the name is known. Nothing is ever written.
	_ = tls.Server(conn, &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			name, found = strings.TrimSuffix(lower(h.ServerName), "."), true
			return nil, errSeen
		},
	}).HandshakeContext(ctx)
	if !found {
		return "", seen.Bytes(), NotTLS
	}
	return name, seen.Bytes(), nil
}

// helloConn gives a handshake its input and takes no output.
type helloConn struct{ r io.Reader }

func (c helloConn) Read(b []byte) (int, error)     { return c.r.Read(b) }
func (helloConn) Write([]byte) (int, error)        { return 0, io.ErrClosedPipe }
func (helloConn) Close() error                     { return nil }
func (helloConn) LocalAddr() net.Addr              { return nil }
func (helloConn) RemoteAddr() net.Addr             { return nil }
func (helloConn) SetDeadline(time.Time) error      { return nil }
func (helloConn) SetReadDeadline(time.Time) error  { return nil }
func (helloConn) SetWriteDeadline(time.Time) error { return nil }
