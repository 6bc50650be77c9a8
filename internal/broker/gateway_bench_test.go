//go:build linux

package broker

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/nodetest"
	"github.com/joystream-ai/joy/internal/plan"
)

// busy is the CPU time that this process has used, of which a server in a process of its own is no part.
func busy(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkGateway is what a call costs more that comes through a step's door, with its client, its decision and its
// record, than one that joy makes itself. Both are made of the same server, turn by turn.
func BenchmarkGateway(b *testing.B) {
	h := open(b, "run-1")
	require.NoError(b, h.Close())
	objects, err := artifact.Open(b.TempDir())
	require.NoError(b, err)
	b.Cleanup(func() { _ = objects.Close() })
	server := connection.Config{Name: "all", Argv: nodetest.Everything(b), Dir: b.TempDir(), Unconfined: "a benchmark: Node lies in the checkout"}
	direct := connection.New(server)
	b.Cleanup(func() { _ = direct.Close() })
	tools, _, err := direct.Tools(b.Context())
	require.NoError(b, err)
	pins := map[string]plan.Tool{}
	for _, t := range tools {
		pins[t.Name] = plan.Tool{Digest: t.Digest, Definition: t.Definition}
	}
	cfg := h.cfg
	cfg.Pins, cfg.Connections, cfg.Objects, cfg.Approvals = Pins{"all": {Argv: server.Argv, Tools: pins}}, []connection.Config{server}, objects, "granted"
	h.Broker = New(cfg)
	c := h.caller(b, plan.Grant{Action: "all.echo"})

	args := json.RawMessage(`{"message":"` + strings.Repeat("x", 200) + `"}`)
	body := rpc("1", "tools/call", `{"name":"all.echo","arguments":`+string(args)+`}`)
	ask := func() {
		// A step's calls are bounded: a run that goes on for longer begins anew.
		h.mu.Lock()
		h.accounts = map[string]*account{}
		h.mu.Unlock()
		status, text := c.do(b, "POST", "/mcp", body)
		require.Equal(b, 200, status, text)
	}
	ask() // starts the server
	var alone, through time.Duration
	calls := 0
	for b.Loop() {
		begun := busy(b)
		_, err := direct.Call(b.Context(), "echo", args, false)
		require.NoError(b, err)
		between := busy(b)
		ask()
		alone, through, calls = alone+between-begun, through+busy(b)-between, calls+1
	}
	b.ReportMetric(float64(through-alone)/float64(calls)/1e6, "ms/call-of-CPU-more")
	b.ReportMetric(float64(through)/float64(alone), "CPU-ratio")
}
