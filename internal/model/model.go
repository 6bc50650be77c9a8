// Package model is the contract of a model provider: who is asked, in which words, and what of the answer goes on record.
//
// The one rule: a model only speaks. Nothing here runs a tool, reads a file or knows a credential's name; what a reply asks
// for is data for whoever holds the plan.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Model is one model of one provider. It is safe for concurrent use.
type Model interface {
	// Begin opens a conversation about a task. Nothing is sent.
	Begin(Task) Conversation
}

// Conversation is what was said so far, kept in the provider's own form so that an answer is echoed as it came. It has one
// user at a time.
type Conversation interface {
	// Say sends what was said so far and the turn, and returns the model's reply. The Exchange is complete as far as it
	// came, also with an error; errors are faults of kind Consent (the key), Connection, Input (no such model) or ctx's own.
	// After an error the conversation is over.
	Say(ctx context.Context, t Turn) (Reply, Exchange, error)
}

// Task is what stays the same throughout a conversation.
type Task struct {
	System string
	Tools  []Tool
	// Answer is a JSON Schema that the final answer is to match; nil: any text. It is handed to the provider where that
	// can hold the model to it, which replaces no check.
	Answer json.RawMessage
}

// Tool is something that the model may ask for.
type Tool struct {
	Name        string // [a-zA-Z0-9_-]{1,64}
	Description string
	Input       json.RawMessage // JSON Schema of an object
}

// Turn is what the host says: words, or the result of every call of the reply before, in any order, or both.
type Turn struct {
	Text      string
	Results   []Result
	MaxTokens int // bounds the reply
	// Sending is called once, with the bytes of the request before the first of them leaves, and with those that may be kept of it,
	// which are the same unless Keep said otherwise of an earlier answer; its error keeps them here. May be nil.
	Sending func(request, kept []byte) error
	// Keep gives what may be kept of an answer's bytes; an equal slice when that is all. What is kept of later requests is made from
	// it, as if the model had answered that: who is given the kept answers again asks the same. Nil: all of it may be.
	Keep func(answer []byte) []byte
	// Repeat is called before an answer that broke off is asked for again, with what was used so far in all and by that answer
	// alone; its error ends the turn. May be nil.
	Repeat func(all, last Usage) error
}

// Result answers one Call.
type Result struct {
	Call    string // its ID
	Text    string
	IsError bool
}

// MaxCalls is how many tools one reply may ask for.
const MaxCalls = 128

// Reply is one answer of the model.
type Reply struct {
	Model string // as the provider names who answered
	Text  string // as it is kept
	Calls []Call // as the model made them, of distinct IDs, at most MaxCalls
	Stop  Stop
	// Usage is that of every attempt, also of those whose answer broke off.
	Usage     Usage
	Estimated bool // the provider did not say what was used, or not of every attempt: Usage is from the length of what was said
}

// Call is a tool that the model asks for. Its name and input are the model's words: any bytes.
type Call struct {
	ID    string
	Name  string
	Input string // JSON, if the model kept to it
}

// Stop is why a reply ended.
type Stop string

// Reasons to stop. Any other is an error of Say.
const (
	End     Stop = "end"
	Calls   Stop = "tools"
	Length  Stop = "length"  // MaxTokens, or the model's own window
	Refusal Stop = "refusal" // the model, or its provider, declined
)

// Usage counts tokens. In is without those of the cache.
type Usage struct {
	In, Out, CacheRead, CacheWrite int64
}

// maxCount bounds one count of a Usage: more is nobody's word for tokens, and sums stay exact.
const maxCount = 1 << 40

// credible is what can be true of a provider's word: no count is negative, or beyond maxCount.
func (u Usage) credible() Usage {
	clip := func(n int64) int64 { return min(max(n, 0), maxCount) }
	return Usage{clip(u.In), clip(u.Out), clip(u.CacheRead), clip(u.CacheWrite)}
}

// bytesOfToken is how many bytes of text a token is, about.
const bytesOfToken = 4

// estimate is what an exchange has used when its provider does not say.
func estimate(x Exchange, r Reply) Usage {
	said := len(r.Text)
	for _, c := range r.Calls {
		said += len(c.Name) + len(c.Input)
	}
	return Usage{In: int64(len(x.Request)) / bytesOfToken, Out: int64(said+bytesOfToken-1) / bytesOfToken}
}

// check holds an answer to what a conversation can go on from.
func (r *Reply) check() error {
	if len(r.Calls) > MaxCalls {
		return fmt.Errorf("the answer asks for %d calls at once, of at most %d", len(r.Calls), MaxCalls)
	}
	ids := map[string]bool{}
	for _, c := range r.Calls {
		if c.ID == "" || ids[c.ID] {
			return fmt.Errorf("the answer has two calls of the id %.80q", c.ID)
		}
		ids[c.ID] = true
	}
	switch {
	case len(r.Calls) > 0 && r.Stop == End:
		r.Stop = Calls
	case len(r.Calls) == 0 && r.Stop == Calls:
		return errors.New("the answer ended for a call, and has none")
	}
	return nil
}

// Total is all that were used.
func (u Usage) Total() int64 { return u.In + u.Out + u.CacheRead + u.CacheWrite }

// Add is the sum of two counts.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.In + v.In, u.Out + v.Out, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// Exchange is what went over the wire for one reply: the last attempt's bytes, without headers.
type Exchange struct {
	Request, Response []byte
	Kept              []byte // what Turn.Keep made of Response
	Status            int    // of HTTP; 0: there was no answer
	Attempts          int

	media string // of the answer, without parameters; "" when it does not say
}

// Price is what a million tokens cost, in US dollars.
type Price struct {
	In         float64 `json:"in" mapstructure:"in"`
	Out        float64 `json:"out" mapstructure:"out"`
	CacheRead  float64 `json:"cache_read" mapstructure:"cache_read"`
	CacheWrite float64 `json:"cache_write" mapstructure:"cache_write"`
}

// Cost is an estimate of what the tokens cost, in US dollars.
func (p Price) Cost(u Usage) float64 {
	return (float64(u.In)*p.In + float64(u.Out)*p.Out + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
}
