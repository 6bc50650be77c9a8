// Package egress reaches the hosts that a plan grants: it reads what a VM asks for, judges the addresses behind a name,
// and carries a TLS connection there.
//
// The one rule: there is one spelling of a host, and the decision, the look-up, the connection and the record all use
// it. What cannot be put into that spelling is refused before a name is looked up.
//
// Nothing is intercepted: what a step sends to a host it may reach is between the two. See docs/threat-model.md for what
// that leaves open.
package egress

import (
	"fmt"
	"strings"

	"github.com/joystream-ai/joy/internal/policy"
)

// Port is the only one that is reached: a grant names a host that speaks TLS.
const Port = "443"

// Denial is why a destination is refused. The zero value is not one.
type Denial string

// The reasons, as the ledger has them.
const (
	NotAName      Denial = "not a host name"
	OtherPort     Denial = "only port 443 is reached"
	PlainHTTP     Denial = "plain HTTP is not carried, only TLS"
	NotGranted    Denial = "not granted by the plan"
	TooManyNames  Denial = "too many names under one wildcard"
	NotFound      Denial = "the name was not found"
	NotPublic     Denial = "the name leads to an address that is not public"
	Unreachable   Denial = "the host could not be reached"
	NotTLS        Denial = "what was sent is not TLS"
	OtherName     Denial = "the TLS server name is not the host that was asked for"
	NoTunnelReply Denial = "the tunnel was given up before it was used"
)

func (d Denial) Error() string { return string(d) }

// Host is the canonical host of a CONNECT request's authority (RFC 9110, section 9.3.6), or why it has none: lower case,
// one trailing dot cut, no address in any notation, no other port than Port.
func Host(authority string) (string, error) {
	// Cut at the first colon: a second one makes it an IPv6 address or a trick, and neither is a name.
	host, port, found := strings.Cut(authority, ":")
	if !found {
		return "", fmt.Errorf("%w: it has no port", NotAName)
	}
	host = strings.TrimSuffix(lower(host), ".")
	if err := policy.CheckHost(host); err != nil || strings.HasPrefix(host, "*") {
		return "", NotAName
	}
	if port != Port {
		return "", OtherPort
	}
	return host, nil
}

// lower folds ASCII only: other letters are refused, not mapped.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
