package connection

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tap is a transport that lets a caller have the bytes of a result as they came, and gives the SDK an empty one to
// decode. The SDK's own types lose unknown fields, the order of keys and integers beyond 2^53, and refuse what they do
// not know; and decoding a large result twice costs more than everything else.
type tap struct{ mcp.Transport }

func (t tap) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tapped{Connection: conn, waiting: map[jsonrpc.ID]*catch{}}, nil
}

// catch is where a result goes. A request carries it in its context.
type catch struct {
	instead string // what the SDK gets

	mu  sync.Mutex
	raw json.RawMessage
}

type catchKey struct{}

// catching is a context whose next request's result is kept.
func catching(ctx context.Context, instead string) (context.Context, *catch) {
	c := &catch{instead: instead}
	return context.WithValue(ctx, catchKey{}, c), c
}

// result is what was caught, or nil.
func (c *catch) result() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw
}

type tapped struct {
	mcp.Connection

	mu      sync.Mutex
	waiting map[jsonrpc.ID]*catch
}

func (t *tapped) Write(ctx context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	c, wanted := ctx.Value(catchKey{}).(*catch)
	if ok && wanted && req.ID.IsValid() {
		t.mu.Lock()
		t.waiting[req.ID] = c
		t.mu.Unlock()
	}
	return t.Connection.Write(ctx, msg)
}

func (t *tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := t.Connection.Read(ctx)
	if res, ok := msg.(*jsonrpc.Response); ok {
		t.mu.Lock()
		c := t.waiting[res.ID]
		delete(t.waiting, res.ID)
		t.mu.Unlock()
		if c != nil && res.Error == nil {
			c.mu.Lock()
			c.raw, res.Result = res.Result, json.RawMessage(c.instead)
			c.mu.Unlock()
		}
	}
	return msg, err
}
