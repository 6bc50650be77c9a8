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
	whole, fits := c.stdout.whole()
	if fits {
		if v, err := oneJSON(whole); err == nil {
			return v, nil
		}
	}
	line := lastLine(c.stdout.tail, fits || c.stdout.scrubbed <= maxTail)
	if bytes.HasPrefix(line, []byte("{")) {
		if v, err := oneJSON(line); err == nil {
			return v, nil
		}
	}
	return nil, c.noResult(line)
}

// oneJSON is b without the space around its one JSON value.
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

// lastLine is the last line that is not empty. When the beginning of b was cut, a line that begins with it is none.
func lastLine(b []byte, fromStart bool) []byte {
	b = bytes.TrimSpace(b)
	i := bytes.LastIndexByte(b, '\n')
	if i < 0 && !fromStart {
		return nil
	}
	return bytes.TrimSpace(b[i+1:])
}

func (c *command) noResult(line []byte) error {
	const advice = "print one JSON value on stdout, or a JSON object as its last line, and write logs to stderr"
	if len(bytes.TrimSpace(c.stdout.tail)) == 0 {
		return errors.New("the script printed no result: " + advice)
	}
	if !bytes.HasPrefix(line, []byte("{")) || bytes.Equal(line, []byte("{}")) {
		return fmt.Errorf("the script's output is not JSON: it begins with %q and its last line is %s; %s",
			excerpt(c.stdout.head), quoted(line), advice)
	}
	_, err := unmarshal(line)
	return fmt.Errorf("the last line of the script's output is not JSON (%w): %s; %s", err, quoted(line), advice)
}

func quoted(b []byte) string { return fmt.Sprintf("%q", excerpt(b)) }

func excerpt(b []byte) string {
	const most = 80
	s := strings.ToValidUTF8(string(b[:min(len(b), most)]), "\uFFFD")
	if len(b) > most {
		s += "…"
	}
	return s
}
