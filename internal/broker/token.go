package broker

import (
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// A run token is a prefix that scanners know, 256 random bits, and a checksum that tells a token from a look-alike:
// joyrt_ + 43 + 6 characters of base64url. There is nothing to read in it.
const (
	tokenPrefix = "joyrt_"
	tokenBytes  = 32
	tokenLen    = len(tokenPrefix) + 43 + 6
)

func newToken(random io.Reader) (string, error) {
	raw := make([]byte, tokenBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("minting a run token: %w", err)
	}
	body := base64.RawURLEncoding.EncodeToString(raw)
	return tokenPrefix + body + checksum(body), nil
}

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return base64.RawURLEncoding.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

func wellFormed(token string) bool {
	body, ok := strings.CutPrefix(token, tokenPrefix)
	return ok && len(token) == tokenLen && checksum(body[:43]) == body[43:]
}
