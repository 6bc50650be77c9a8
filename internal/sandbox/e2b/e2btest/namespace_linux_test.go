package e2btest

import (
	"bufio"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMachine(t *testing.T) {
	begun := time.Now()
	m, err := Namespaces{}.Start(t.Context())
	require.NoError(t, err)
	conn, err := m.Dial(t.Context())
	require.NoError(t, err)
	_, err = io.WriteString(conn, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		m.Close()
		t.Log(m.(*namespace).said.String())
	}
	require.NoError(t, err)
	require.Equal(t, 204, resp.StatusCode)
	t.Log(time.Since(begun))
	require.NoError(t, m.Close())
}
