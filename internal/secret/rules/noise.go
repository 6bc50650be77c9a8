package rules

import (
	"bytes"
	"regexp"
)

// Rules that are told apart from what only looks like their finding.
const (
	generic    = "generic-api-key" // for what a name says is a secret, whatever it looks like: the one that is often wrong
	privateKey = "private-key"
)

var (
	// What has letters and digits and is known to be no secret: a digest, a UUID, a name of a key, an address on a blockchain.
	plainValue = regexp.MustCompile(`^(?i:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|0x[0-9a-f]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:md5|sha\d+)[-:=].*|.*(?:key|token|secret|passw).*)$`)
	// Names of tokens and keys that open nothing: the place in a list, a key of a table or a cache, the pieces of a text; and
	// the digest of a Go module, whose path may have the name of a key in it.
	plainName = regexp.MustCompile(`(?i)(?:page|next|prev(?:ious)?|cursor|continuation|sync|resume|cache|idempotency|etag|object|map|partition|shard|sort|group|index|lookup|row|state|storage|unique|issue|project|ticket)[_.-]?(?:page[_.-]?)?(?:token|key)|tokeni[sz]|\bh1:[A-Za-z0-9+/]{43}=`)
	// What a text that explains writes in the place of a secret: a variable, the name of a secret and nothing else, a beginning
	// with dots behind it, a row of letters or digits.
	placeholder = regexp.MustCompile(`^["']?(?:\$\{?\w+\}?|[A-Z]{1,12}(?:[_:-][A-Z]{1,12})*|[a-z]{1,12}(?:[_-][a-z]{1,12})+):?["']?$` +
		`|^(?i:your|my|insert|replace|change)[_ -]|^<.*>$|\.\.\.$|…$|(?i:x{4,}|[_-]x+|example)$` +
		`|(?i:123456|abcdef|abc123|123abc|xyz789)`)
	sampleToken = []byte(".eyJzdWIiOiIxMjM0NTY3ODkwI") // of jwt.io, the subject 1234567890
	pemBody     = regexp.MustCompile(`[A-Za-z0-9+/]{40}`)
)

// maxPlaceholder is how long a placeholder may be, in bytes. In what is longer a row of digits is chance.
const maxPlaceholder = 64

// noise tells what a rule matches and is no secret. Redacting the token of the next page would break whoever asks for it,
// and a skill that explains how a service is called would be no skill to run.
func (r *rule) noise(secret, match []byte) bool {
	if r.id == privateKey {
		return !pemBody.Match(secret) // a frame or two in a list of patterns
	}
	if r.id == generic && (plainValue.Match(secret) || plainName.Match(match)) {
		return true
	}
	return bytes.Contains(secret, sampleToken) || len(secret) <= maxPlaceholder && placeholder.Match(secret)
}
