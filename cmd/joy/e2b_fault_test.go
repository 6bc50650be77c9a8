//go:build linux

package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// talker is a step that talks for two seconds, so that there is a middle of it, and notes that it ran.
const talker = `#!/bin/sh
i=0
while [ $i -lt 40 ]; do head -c 32768 /dev/zero | tr '\0' x >&2; i=$((i+1)); sleep 0.05; done
echo once >>out/times
echo '{"done": true}'
exit 0
`

// endless is talker without an end: what goes wrong in its middle cannot come too late.
var endless = strings.Replace(talker, "$i -lt 40", "$i -lt 40000", 1)

// said40 is what it says on stderr.
var said40 = strings.Repeat("x", 40*32768)

// mishap is what goes wrong at E2B, and what joy run makes of it.
type mishap struct {
	options e2btest.Options
	faults  []e2btest.Fault // from the beginning
	midStep []e2btest.Fault // from the beginning of the command
	lose    bool            // in the middle of the step the node fails
	inside  string          // in the middle of the step this is run in the sandbox, by nobody's order
	script  string          // of the step; "" is talker
	code    int
	kind    string // of the failure; "" is none
	says    string // on stderr
}

func each(on e2btest.Op, times int, do e2btest.Effect) []e2btest.Fault {
	return []e2btest.Fault{{On: on, Times: times, Do: do}}
}

// late passes over the first requests: of ProcessStart, the first starts joy-guest and the second its carrier.
func late(on e2btest.Op, skip, times int, do e2btest.Effect) []e2btest.Fault {
	return []e2btest.Fault{{On: on, Skip: skip, Times: times, Do: do}}
}

var mishaps = map[string]mishap{
	"nothing":                          {},
	"create: made, and cut":            {faults: each(e2btest.Create, 1, e2btest.CutAnswer())},
	"create: three seconds":            {faults: each(e2btest.Create, 1, e2btest.Delay(3*time.Second))},
	"create: cut, a list of everybody": {faults: append(each(e2btest.Create, 1, e2btest.CutAnswer()), each(e2btest.List, 0, e2btest.IgnoreFilter())...)},
	"create: cut, a list in a circle":  {faults: append(each(e2btest.Create, 1, e2btest.CutAnswer()), each(e2btest.List, 0, e2btest.RepeatToken())...)},
	"create: 429 with a time":          {faults: each(e2btest.Create, 2, e2btest.TooFast(time.Second))},
	"create: 429, the quota":           {faults: each(e2btest.Create, 1, e2btest.TooMany(20)), code: 6, kind: "platform", says: "joy gc"},
	"create: 401":                      {faults: each(e2btest.Create, 1, e2btest.Answer(401, "no")), code: 4, kind: "connection", says: "E2B_API_KEY"},
	"create: 500":                      {faults: each(e2btest.Create, 1, e2btest.Answer(500, "no node")), code: 6, kind: "platform"},
	"create: made, and gone":           {faults: each(e2btest.Get, 1, e2btest.Answer(404, "Sandbox not found")), code: 6, kind: "platform"},
	"upload: 500":                      {faults: each(e2btest.Upload, 1, e2btest.Answer(500, "no")), code: 6, kind: "platform"},
	"start: a flood":                   {faults: each(e2btest.ProcessStart, 1, e2btest.Flood(128<<20))},
	"step: 502, pages":                 {midStep: each(e2btest.SendInput, 3, e2btest.AnswerPage(502))},
	"step: 502, JSON":                  {midStep: each(e2btest.SendInput, 3, e2btest.Answer(502, "bad gateway"))},
	"step: 429 with a time":            {midStep: each(e2btest.SendInput, 2, e2btest.TooFast(time.Second))},
	"step: 429 without":                {midStep: each(e2btest.SendInput, 2, e2btest.TooMany(20))},
	"step: 404, and it is there":       {midStep: each(e2btest.SendInput, 2, e2btest.Answer(404, "no such process"))},
	"step: 404, and it is not": {
		midStep: append(each(e2btest.SendInput, 1, e2btest.Answer(404, "no such process")), each(e2btest.Get, 1, e2btest.Answer(404, "Sandbox not found"))...),
		code:    6, kind: "platform", says: "E2B has no sandbox",
	},
	"step: the node fails":            {lose: true, code: 6, kind: "platform", says: "E2B has no sandbox"},
	"stream: cut":                     {faults: late(e2btest.ProcessStart, 1, 3, e2btest.CutStream(20))},
	"stream: ended without an end":    {faults: late(e2btest.ProcessStart, 1, 3, e2btest.EndStream(20))},
	"stream: cut for good":            {faults: late(e2btest.ProcessStart, 1, 0, e2btest.CutStream(20))},
	"stream: a flood":                 {faults: late(e2btest.ProcessStart, 1, 1, e2btest.Flood(128<<20)), code: 6, kind: "platform"},
	"guest: killed":                   {inside: killGuest, code: 6, kind: "platform", says: "joy-guest ended"},
	"guest: killed, and the end cut":  {faults: each(e2btest.ProcessStart, 0, e2btest.CutBeforeEnd()), inside: killGuest, code: 6, kind: "platform", says: "joy-guest"},
	"guest: killed, and no end comes": {faults: each(e2btest.ProcessStart, 0, e2btest.NoEnd()), inside: killGuest, code: 6, kind: "platform", says: "joy-guest"},
	"lease: 409":                      {faults: each(e2btest.SetTimeout, 0, e2btest.Answer(409, "Sandbox is not running")), script: "#!/bin/sh\nsleep 200\n", code: 6, kind: "platform", says: "Sandbox is not running"},
	"lease: 500, 429, a page": {
		faults: append(append(each(e2btest.SetTimeout, 1, e2btest.Answer(500, "no")), each(e2btest.SetTimeout, 1, e2btest.TooMany(20))...), each(e2btest.SetTimeout, 1, e2btest.AnswerPage(502))...),
		script: strings.Replace(talker, "i=0\n", "i=0; sleep 60\n", 1),
	},
	"kill: 500, 500":             {faults: each(e2btest.Kill, 2, e2btest.Answer(500, "no"))},
	"kill: 404, and it is there": {faults: each(e2btest.Kill, 2, e2btest.Answer(404, "no such sandbox"))},
	"kill: done, and cut":        {faults: each(e2btest.Kill, 1, e2btest.CutAnswer())},
	"kill: 429 with a time":      {faults: each(e2btest.Kill, 2, e2btest.TooFast(time.Second))},
	"a clock a day ahead":        {options: e2btest.Options{Skew: 24 * time.Hour}},
	"a clock a day behind":       {options: e2btest.Options{Skew: -24 * time.Hour}},
}

// Whatever goes wrong at E2B: the exit code and the failure's kind are what the table of product says, the ledger is
// whole, no sandbox of the run is left and somebody else's is not touched. A step that could go on lost no byte.
func TestMishapsAtE2B(t *testing.T) {
	for name, m := range mishaps {
		t.Run(name, func(t *testing.T) {
			b, server := e2bProject(t, m.options)
			work := cmp.Or(m.script, talker)
			if m.code != 0 && (m.midStep != nil || m.lose || m.inside != "") {
				work = endless
			}
			b.write("s/run.sh", work)
			code, _, stderr := b.run("build")
			require.Zero(t, code, stderr)
			other := stranger(t, server)
			for _, f := range m.faults {
				server.Fault(f)
			}
			p := b.start("run", "--sandbox", "e2b", "--jsonl")
			peak := p.peakAtKill(server)
			if m.midStep != nil || m.lose || m.inside != "" {
				p.await("command.started")
				for _, f := range m.midStep {
					server.Fault(f)
				}
				if m.inside != "" {
					meddle(t, server, server.Sandboxes()[1].ID, m.inside)
				}
				if m.lose {
					require.True(t, server.Lose(server.Sandboxes()[1].ID))
				}
			}
			got := p.exitCode()
			require.Equal(t, m.code, got, "%s", &p.stderr)
			require.Contains(t, p.stderr.String(), m.says)
			require.Less(t, peak.Load(), int64(128<<20), "bytes that joy held at once")
			left := server.Sandboxes()
			require.Len(t, left, 1)
			require.Equal(t, other, left[0].ID)
			b.verifies(0)
			require.Empty(t, b.live())
			entries := b.ledger()
			finish := b.finish(entries)
			if m.kind != "" {
				require.Equal(t, "failed", finish.Data["outcome"])
				require.Equal(t, m.kind, finish.Data["failure_kind"])
				return
			}
			require.Equal(t, "succeeded", finish.Data["outcome"])
			sum := sha256.Sum256([]byte(said40))
			ended := only(entries, "command.finished")
			require.Len(t, ended, 1, "it ran once")
			require.Equal(t, "sha256:"+hex.EncodeToString(sum[:]), ended[0].Data["stderr"].(map[string]any)["sha256"])
		})
	}
}

// killGuest ends joy-guest and, with it, everything that it started.
const killGuest = `for p in /proc/[0-9]*; do case $(tr '\0' ' ' <$p/cmdline) in joy-hosted*) kill -KILL ${p#/proc/};; esac; done`

// meddle runs a script in a sandbox. What becomes of it is the faults'.
func meddle(t *testing.T, server *e2btest.Server, id, script string) {
	t.Helper()
	c := account(t, server)
	sb, err := c.Get(t.Context(), id)
	require.NoError(t, err)
	d, err := c.Daemon(sb.Created, "root")
	require.NoError(t, err)
	s, err := d.Start(t.Context(), client.Start{Cmd: "/bin/sh", Args: []string{"-c", script}})
	require.NoError(t, err)
	defer s.Close()
	for err == nil {
		_, err = s.Next()
	}
}

func account(t *testing.T, server *e2btest.Server) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Key: client.Secret(server.Key), APIURL: server.URL, SandboxURL: server.URL})
	require.NoError(t, err)
	return c
}

// stranger is a sandbox of the same account that is not joy's.
func stranger(t *testing.T, server *e2btest.Server) string {
	t.Helper()
	made, err := account(t, server).Create(t.Context(), client.CreateRequest{Template: "base", Lease: time.Hour, Metadata: map[string]string{"joy_owner": "somebody"}})
	require.NoError(t, err)
	return made.ID
}

// peakAtKill becomes the most memory that joy had at once, in bytes, when it asks for the end of its sandbox.
func (p *process) peakAtKill(server *e2btest.Server) *atomic.Int64 {
	var peak atomic.Int64
	server.Watch(e2btest.Kill, func() {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
		if err != nil {
			return // killed
		}
		_, most, _ := strings.Cut(string(status), "VmHWM:")
		var kib int64
		_, _ = fmt.Sscan(most, &kib) // 0, which the test notices
		peak.Store(kib << 10)
	})
	return &peak
}
