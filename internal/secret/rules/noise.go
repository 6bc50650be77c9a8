package rules

import "regexp"

// generic is the rule for what a name says is a secret, whatever it looks like. It is the one that is often wrong.
const generic = "generic-api-key"

var (
	// What has letters and digits and is known to be no secret: a digest, a UUID, a name of a key.
	plainValue = regexp.MustCompile(`^(?i:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:md5|sha\d+)[-:=].*|.*(?:key|token|secret|passw).*)$`)
	// Names of tokens and keys that open nothing: the place in a list, a key of a table or a cache.
	plainName = regexp.MustCompile(`(?i)(?:page|next|prev(?:ious)?|cursor|continuation|sync|resume|cache|idempotency|etag|object|map|partition|shard|sort|group|index|lookup|row|state|storage|unique|issue|project|ticket)[_.-]?(?:page[_.-]?)?(?:token|key)`)
)

// noise tells, of what the generic rule matches, what a step works with: redacting the token of the next page would break
// whoever asks for it.
func noise(secret, match []byte) bool { return plainValue.Match(secret) || plainName.Match(match) }
