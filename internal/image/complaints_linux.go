package image

import (
	"bytes"
	"strings"
)

// complaints keeps of what a program says why it failed: mmdebstrap tidies up for pages after an error of apt's, so the
// last lines are about that. What it tells of its work is no cause either.
type complaints struct {
	line  []byte // not ended yet, cut
	cause []byte // lines that say what is wrong, the first ones
	last  []byte // of all others, the last ones
}

// Caps in bytes: of what is kept of each kind, and of a line.
const (
	maxComplaints = 1 << 10
	maxComplaint  = 512
)

var complains = []string{"E: ", "Err:", "error:", "Error:", "dpkg: error", "FATAL"}

// Write never fails: a program must not be stopped for what it says.
func (c *complaints) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' && b != '\r' {
			if len(c.line) < maxComplaint {
				c.line = append(c.line, b)
			}
			continue
		}
		c.take()
	}
	return len(p), nil
}

// take sorts the line into where it belongs.
func (c *complaints) take() {
	line := append(bytes.TrimSpace(c.line), '\n')
	c.line = nil
	text := string(line)
	for _, sign := range complains {
		if strings.HasPrefix(text, sign) {
			if len(c.cause)+len(line) <= maxComplaints {
				c.cause = append(c.cause, line...)
			}
			return
		}
	}
	if len(line) == 1 || strings.HasPrefix(text, "I: ") {
		return
	}
	c.last = append(c.last, line...)
	c.last = c.last[max(0, len(c.last)-maxComplaints):]
}

// lines is what is kept, ready to follow a message.
func (c *complaints) lines() string {
	c.take()
	kept := c.cause
	if len(kept) == 0 {
		kept = c.last
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(kept), "\uFFFD"))
	if text == "" {
		return ""
	}
	return ": " + strings.ReplaceAll(text, "\n", "; ")
}
