package connection

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
)

// lines passes on the messages in a server's output, one to a line, and keeps what is none out of the protocol: a
// wrapper that prints a warning does not end the connection.
type lines struct {
	file  *os.File
	in    *bufio.Reader
	noise io.Writer
	rest  []byte
	ended sync.Once
	over  chan struct{} // closed when the output has ended

	mu  sync.Mutex
	err error // why it was given up
}

func newLines(f *os.File, noise io.Writer) *lines {
	return &lines{file: f, in: bufio.NewReaderSize(f, 64<<10), noise: noise, over: make(chan struct{})}
}

func (l *lines) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if len(bytes.TrimSpace(line)) > 0 {
			if message(line) {
				l.rest = append(line, '\n')
			} else {
				_, _ = l.noise.Write(append(line, '\n'))
			}
		}
		if err != nil && len(l.rest) == 0 {
			l.ended.Do(func() { close(l.over) })
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line reads up to the next line feed, at most MaxMessage.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > MaxMessage {
			err := fmt.Errorf("it sent a line longer than %d MiB", MaxMessage>>20)
			l.mu.Lock()
			l.err = err
			l.mu.Unlock()
			return nil, err
		}
		line = append(line, part...)
		switch {
		case err == bufio.ErrBufferFull: //nolint:errorlint // as documented
		case err != nil:
			return line, err
		default:
			return line[:len(line)-1], nil
		}
	}
}

// message reports whether a line is a JSON object: the protocol's batches were given up in 2025.
func message(line []byte) bool {
	line = bytes.TrimSpace(line)
	return line[0] == '{' && json.Valid(line)
}

func (l *lines) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *lines) Close() error { return l.file.Close() }

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b[max(0, len(b)-tailSize):]...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tail) last() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.TrimSpace(bytes.Clone(t.buf))
}
