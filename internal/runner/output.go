package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// result reads a script's result from its stdout: the whole of it is one JSON value, or else its last line that is
// not empty is a JSON object. Nothing is guessed from the middle.
func (c *command) result() (json.RawMessage, error) {
	if all, whole := c.stdout.whole(); whole {
		if v, err := oneJSON(all); err == nil {
			return v, nil
		}
	}
	line, known := c.stdout.lastLine()
	if known && bytes.HasPrefix(line, []byte("{")) {
		v, err := oneJSON(line)
		if err == nil {
			return v, nil
		}
		return nil, fmt.Errorf("the last line of the script's output is not JSON (%v): %s; %s", err, quoted(line), advice)
	}
	return nil, c.noResult(line, known)
}

const advice = "print one JSON value on stdout, or a JSON object as its last line, and write logs to stderr"

func (c *command) noResult(line []byte, known bool) error {
	switch {
	case !known:
		return fmt.Errorf("the script's output is not JSON: it begins with %s and its last line is longer than %d MiB; %s",
			quoted(c.stdout.head), maxTail>>20, advice)
	case len(line) == 0:
		return errors.New("the script printed no result: " + advice)
	}
	return fmt.Errorf("the script's output is not JSON: it begins with %s and its last line is %s; %s",
		quoted(c.stdout.head), quoted(line), advice)
}

// oneJSON is b without the space in and around its one JSON value.
func oneJSON(b []byte) (json.RawMessage, error) {
	if _, err := unmarshal(b); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// lastLine is the last line of b that is not empty, and whether all of that line is in b, which is the end of a
// stream: all of it when fromStart.
func lastLine(b []byte, fromStart bool) (line []byte, all bool) {
	b = bytes.TrimSpace(b)
	i := bytes.LastIndexByte(b, '\n')
	return bytes.TrimSpace(b[i+1:]), i >= 0 || fromStart
}

// quoted shows the beginning of what somebody printed.
func quoted(b []byte) string {
	const most = 80
	s := strings.ToValidUTF8(string(b[:min(len(b), most)]), "\uFFFD")
	if len(b) > most {
		s += "…"
	}
	return fmt.Sprintf("%q", s)
}
