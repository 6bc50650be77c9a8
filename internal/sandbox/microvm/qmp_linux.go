package microvm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// maxQMP bounds one message of QEMU's monitor, in bytes. Those that are asked for here take a few hundred.
const maxQMP = 1 << 20

// monitor speaks QMP with the QEMU that makes a snapshot. No VM that runs a plan has a monitor.
// See https://www.qemu.org/docs/master/interop/qmp-spec.html
type monitor struct {
	conn   *net.UnixConn
	r      *bufio.Reader
	events []qmpMessage // seen while an answer was waited for
}

// qmpMessage is what QEMU sends: a greeting, an answer or an event.
type qmpMessage struct {
	QMP    json.RawMessage `json:"QMP"`
	Return json.RawMessage `json:"return"`
	Error  *struct {
		Class string `json:"class"`
		Desc  string `json:"desc"`
	} `json:"error"`
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// newMonitor takes over our end of QEMU's monitor and agrees on its capabilities. ctx ends every wait, also later ones.
func newMonitor(ctx context.Context, ours *os.File) (*monitor, error) {
	defer ours.Close()
	conn, err := net.FileConn(ours) // a duplicate
	if err != nil {
		return nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("not a unix socket"), conn.Close())
	}
	context.AfterFunc(ctx, func() { _ = unixConn.SetDeadline(time.Unix(1, 0)) })
	m := &monitor{conn: unixConn, r: bufio.NewReader(unixConn)}
	greeting, err := m.read()
	if err == nil && greeting.QMP == nil {
		err = errors.New("QEMU's monitor did not greet")
	}
	if err == nil {
		err = m.do("qmp_capabilities", nil)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return m, nil
}

func (m *monitor) Close() error { return m.conn.Close() }

// do executes one command; files go with it, for getfd.
func (m *monitor) do(command string, arguments map[string]any, files ...*os.File) error {
	request := map[string]any{"execute": command}
	if arguments != nil {
		request["arguments"] = arguments
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	var rights []byte
	for _, f := range files {
		rights = append(rights, unix.UnixRights(int(f.Fd()))...)
	}
	if _, _, err := m.conn.WriteMsgUnix(append(body, '\n'), rights, nil); err != nil {
		return fmt.Errorf("QEMU's %s: %w", command, err)
	}
	for {
		answer, err := m.read()
		switch {
		case err != nil:
			return fmt.Errorf("QEMU's %s: %w", command, err)
		case answer.Error != nil:
			return fmt.Errorf("QEMU's %s: %s", command, answer.Error.Desc)
		case answer.Return != nil:
			return nil
		case answer.Event != "":
			m.events = append(m.events, answer)
		}
	}
}

// await waits for the event that is, in its data, in one of the states; it returns which.
func (m *monitor) await(event string, states ...string) (string, error) {
	for {
		for len(m.events) > 0 {
			e := m.events[0]
			m.events = m.events[1:]
			var data struct {
				Status string `json:"status"`
			}
			if e.Event != event || json.Unmarshal(e.Data, &data) != nil {
				continue
			}
			for _, s := range states {
				if s == data.Status {
					return s, nil
				}
			}
		}
		e, err := m.read()
		if err != nil {
			return "", fmt.Errorf("waiting for QEMU's %s: %w", event, err)
		}
		if e.Event != "" {
			m.events = append(m.events, e)
		}
	}
}

// read reads one message: a line.
func (m *monitor) read() (qmpMessage, error) {
	var msg qmpMessage
	var line []byte
	for {
		part, err := m.r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return msg, err
		}
		if len(line) > maxQMP {
			return msg, errors.New("a message of QEMU's monitor is too large")
		}
	}
	return msg, json.Unmarshal(line, &msg)
}
