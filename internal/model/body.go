package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// Body is the request of a conversation, which grows with every turn: what stays the same, then the messages, each encoded once, and
// last the bound of the reply, so that each request begins as the one before. It has two forms, as a conversation may be kept
// otherwise than it is sent: see Turn.Keep. It is not for concurrent use.
type Body struct {
	sent []byte
	kept []byte // nil: as it is sent
	some bool   // message
	err  error
}

// NewBody takes everything but the messages and the bound of the reply from an SDK's parameters. It asks for a stream. Members are
// sorted in every depth: an SDK may write those of a schema in any order, each time another, and a replay asks for the very bytes.
func NewBody(params json.Marshaler) *Body {
	raw, err := params.MarshalJSON()
	var head map[string]any
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		err = dec.Decode(&head)
	}
	if err != nil {
		return &Body{err: err}
	}
	delete(head, "messages")
	delete(head, "max_tokens")
	head["stream"] = true
	sent, err := json.Marshal(head)
	if err != nil {
		return &Body{err: err}
	}
	return &Body{sent: append(sent[:len(sent)-1], `,"messages":[`...)}
}

// Add adds a message of the host's.
func (b *Body) Add(message json.Marshaler) { b.add(message, nil) }

// Echo adds what the model said, and, when it is not nil, what is kept of that.
func (b *Body) Echo(said, kept json.Marshaler) { b.add(said, kept) }

func (b *Body) add(sent, kept json.Marshaler) {
	msg, err := sent.MarshalJSON()
	other := msg
	if kept != nil {
		var kerr error
		other, kerr = kept.MarshalJSON()
		err = errors.Join(err, kerr)
		if b.kept == nil {
			b.kept = append([]byte(nil), b.sent...)
		}
	}
	b.err = errors.Join(b.err, err)
	var comma []byte
	if b.some {
		comma = []byte(",")
	}
	b.some = true
	b.sent = append(append(b.sent, comma...), msg...)
	if b.kept != nil {
		b.kept = append(append(b.kept, comma...), other...)
	}
}

// Bytes are the request for a reply of at most n tokens, by the name that the server knows for that: as it is sent, and as it is
// kept, nil when that is the same. Neither is changed afterwards.
func (b *Body) Bytes(limit string, n int) (sent, kept []byte, err error) {
	end := `],"` + limit + `":` + strconv.Itoa(n) + `}`
	whole := func(begun []byte) []byte {
		return append(append(make([]byte, 0, len(begun)+len(end)), begun...), end...)
	}
	if b.kept != nil {
		kept = whole(b.kept)
	}
	return whole(b.sent), kept, b.err
}
