package guest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Limits of an answer of the broker, in bytes.
const (
	maxAnswerHead = 64 << 10
	maxAnswer     = 64 << 20
)

// ask makes one request of the broker and returns the body of its answer, or the refusal as an error.
//
// It speaks HTTP/1.0 (RFC 1945): such an answer is never chunked and ends with the connection. net/http would double
// the size of joy-guest, which every boot carries.
func (c *caller) ask(method, path string, body []byte) ([]byte, error) {
	base, token := c.getenv("JOY_API_URL"), c.getenv("JOY_RUN_TOKEN")
	// The door has an address. A dialer that can look names up would make joy-guest 240 KiB larger.
	address, err := netip.ParseAddrPort(strings.TrimPrefix(strings.TrimSuffix(base, "/"), "http://"))
	if err != nil || token == "" {
		return nil, misuse("JOY_API_URL and JOY_RUN_TOKEN are not set: this works inside a step")
	}
	conn, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(address))
	if err != nil {
		return nil, unreachable(err)
	}
	defer conn.Close()
	request := fmt.Appendf(nil, "%s %s HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", method, path, address, token)
	if body != nil {
		request = fmt.Appendf(request, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	// A refusal may come before the body has been read, and what was written then fails: the answer says more.
	_, sent := conn.Write(append(append(request, "\r\n"...), body...))
	status, answer, err := readAnswer(conn)
	switch {
	case err != nil:
		return nil, unreachable(errors.Join(sent, err))
	case status != 200:
		return nil, refused(status, answer)
	}
	return answer, nil
}

func unreachable(err error) error {
	return &problem{exitUnreachable, "asking the broker: " + strings.ReplaceAll(err.Error(), "\n", ": ")}
}

// readAnswer reads a whole answer. One that is shorter than it said is an error.
func readAnswer(conn io.Reader) (status int, body []byte, err error) {
	limited := &io.LimitedReader{R: conn, N: maxAnswerHead}
	r := bufio.NewReader(limited)
	line, err := headLine(r)
	if err != nil {
		return 0, nil, err
	}
	proto, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	status, err = strconv.Atoi(code)
	if err != nil || !strings.HasPrefix(proto, "HTTP/1.") || status < 200 || status > 599 {
		return 0, nil, errors.New("it does not speak HTTP")
	}
	length := int64(-1)
	for {
		line, err := headLine(r)
		if err != nil {
			return 0, nil, err
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || length < 0 {
				return 0, nil, errors.New("the length of its answer is no number")
			}
		}
	}
	limited.N = maxAnswer + 1
	body, err = io.ReadAll(r)
	switch {
	case err != nil:
		return 0, nil, err
	case len(body) > maxAnswer:
		return 0, nil, fmt.Errorf("its answer has more than %d bytes", maxAnswer)
	case length >= 0 && int64(len(body)) != length:
		return 0, nil, errors.New("its answer was cut short")
	}
	return status, body, nil
}

// headLine is one line of the head, without its end.
func headLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return "", errors.New("it gave no answer")
	}
	return strings.TrimRight(line, "\r\n"), err
}

// refusalExits is the exit code of a command by the code of the broker's refusal (docs/broker.md). Another one is joy's own
// trouble.
var refusalExits = map[string]int{
	"connection": exitFailed, "outcome_unknown": exitFailed,
	"input":           exitUsage,
	"drift":           exitDrift,
	"approval_needed": exitConsent,
	"denied":          exitDenied, "unauthorized": exitDenied,
}

// refused makes an error of a refusal.
func refused(status int, body []byte) error {
	var answer struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Error.Message == "" {
		answer.Error.Message = fmt.Sprintf("the broker answered %d: %s", status, bytes.TrimSpace(body[:min(len(body), 200)]))
	}
	code, known := refusalExits[answer.Error.Code]
	if !known {
		code = exitUnreachable
	}
	return &problem{code, answer.Error.Message}
}
