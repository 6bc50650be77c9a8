// Package secret knows the values that must not leave the host, and finds them in what comes back.
//
// The one rule: a value goes where it is asked for by name and nowhere else. It is never formatted, and whatever
// passes a Set's redactor has each known form of it replaced by [REDACTED:name].
//
// A Set looks for exact bytes: the value and the encodings that programs commonly print (see Form). By design it
// does not find a value that was
//   - broken up: wrapped base64, hex with colons or spaces, one character a line, joined from pieces,
//   - encoded twice, compressed or encrypted, rotated, or encoded along with neighbours in base32,
//   - drawn, spelled out or described.
//
// Redaction is a seat belt. The guarantee is that no credential enters the VM; what is there is a run token, and
// that is revoked.
package secret

import (
	"fmt"
	"log/slog"
)

// mask is what a Value shows of itself.
const mask = "[REDACTED]"

// Value is a credential in memory. No verb of fmt, no encoder and no logger shows it: only Bytes does. It lies in a
// closure because printing a struct that holds a Value in an unexported field asks no method of it and shows fields.
type Value struct{ bytes func() []byte }

// NewValue keeps b, which the caller must not change afterwards.
func NewValue(b []byte) Value { return Value{func() []byte { return b }} }

// Bytes is the value itself, not a copy: send it, do not keep it. The zero Value has none.
func (v Value) Bytes() []byte {
	if v.bytes == nil {
		return nil
	}
	return v.bytes()
}

// String is the mask, as are all of the following.
func (Value) String() string { return mask }

// Format writes the mask for every verb, %x and %d among them, which would not ask String.
func (Value) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(mask)) }

// MarshalText writes the mask; encoding/json uses it too.
func (Value) MarshalText() ([]byte, error) { return []byte(mask), nil }

// LogValue gives the mask to slog.
func (Value) LogValue() slog.Value { return slog.StringValue(mask) }
