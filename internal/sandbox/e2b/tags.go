package e2b

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tags of a sandbox. They are fixed when it is made, and tell whose it is to a joy that knows nothing else of it.
const (
	tagRun     = "joy_run"
	tagOwner   = "joy_owner"   // the user's key and this machine, as a digest
	tagNonce   = "joy_nonce"   // of one request, made before it
	tagCreated = "joy_created" // Unix seconds
	tagSig     = "joy_sig"     // over the others, with the user's key
)

// Owner is the user and the machine that sandboxes are made for. Nobody else's are ever ended.
type Owner struct {
	Name   string // of the user's key, the public half
	Host   string
	Sign   func(msg []byte) ([]byte, error)
	Verify func(msg, sig []byte) bool
}

// id is the owner as a tag.
func (o Owner) id() string {
	sum := sha256.Sum256([]byte(o.Name + "\x00" + o.Host))
	return hex.EncodeToString(sum[:12])
}

func (o Owner) tags(run, nonce string, now time.Time) (map[string]string, error) {
	tags := map[string]string{
		tagRun: run, tagOwner: o.id(), tagNonce: nonce, tagCreated: strconv.FormatInt(now.Unix(), 10),
	}
	sig, err := o.Sign(signed(tags))
	if err != nil {
		return nil, fmt.Errorf("signing the sandbox's tags: %w", err)
	}
	tags[tagSig] = base64.RawURLEncoding.EncodeToString(sig)
	return tags, nil
}

// signed is the text of the tags' signature; no tag has a line feed in it.
func signed(tags map[string]string) []byte {
	return []byte(strings.Join([]string{"joy e2b tags", tags[tagRun], tags[tagOwner], tags[tagNonce], tags[tagCreated], ""}, "\n"))
}

// owns holds that tags are this owner's, by the signature and not by what they say.
func (o Owner) owns(tags map[string]string) bool {
	sig, err := base64.RawURLEncoding.DecodeString(tags[tagSig])
	return err == nil && tags[tagOwner] == o.id() && tags[tagNonce] != "" && o.Verify(signed(tags), sig)
}

// Ids of this provider, as the index of live runs keeps them: the service, and what names the sandbox there.
const (
	scheme    = "e2b://"
	nonceMark = "/nonce/"
	idMark    = "/sandbox/"
)

// IsID says whether an id of the index is one of this provider.
func IsID(id string) bool { return strings.HasPrefix(id, scheme) }

func (p *Provider) nonceID(nonce string) string { return scheme + p.Client.Place() + nonceMark + nonce }

func (p *Provider) sandboxID(id string) string { return scheme + p.Client.Place() + idMark + id }

// parseID takes an id apart: either a sandbox or the nonce of a request for one.
func parseID(text string) (place, sandbox, nonce string, err error) {
	rest, ok := strings.CutPrefix(text, scheme)
	if ok {
		if place, nonce, ok = strings.Cut(rest, nonceMark); ok && nonce != "" {
			return place, "", nonce, nil
		}
		if place, sandbox, ok = strings.Cut(rest, idMark); ok && sandbox != "" {
			return place, sandbox, "", nil
		}
	}
	return "", "", "", fmt.Errorf("%q does not name a sandbox of E2B", text)
}
