package client

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a key or a token. However it is printed, logged or encoded, its value does not appear; a conversion to
// string is the only way to it.
type Secret string

const hidden = "[hidden]"

// Format prints hidden for every verb.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// MarshalText is hidden: nothing that joy writes has a secret in it.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// UnmarshalText takes a secret from a reply.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Secret(text)
	return nil
}

// LogValue is hidden.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
