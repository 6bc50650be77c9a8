//go:build linux

package main

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// littering leaves so many files that their collection takes a while.
const littering = "#!/bin/sh\ni=0\nwhile [ $i -lt 150 ]; do head -c 200000 /dev/zero >out/$i; i=$((i+1)); done\necho '{}'\n"

// Somebody who stops a run, in whatever phase, has a whole ledger and no sandbox, and 130 unless everything was done
// already: a signal that stopped nothing leaves a success what it is.
func TestStoppedAtE2B(t *testing.T) {
	for name, test := range map[string]struct {
		at    e2btest.Op // the request that is under way
		lost  bool       // the answer to the request for a sandbox
		entry string     // or what has just been written
		late  bool       // all steps have ended
	}{
		"looking":    {at: "templates/aliases/base"},
		"creating":   {at: e2btest.Create},
		"adopting":   {at: e2btest.List, lost: true},
		"uploading":  {at: e2btest.Upload},
		"waking":     {at: e2btest.ProcessStart},
		"in a step":  {entry: "command.started"},
		"collecting": {entry: "artifact.stored", late: true},
		"killing":    {at: e2btest.Kill, late: true},
	} {
		t.Run(name, func(t *testing.T) {
			b, server := e2bProject(t, e2btest.Options{})
			work := littering
			if !test.late {
				work = strings.Replace(work, "echo '{}'", "exec sleep 1000", 1) // it cannot end before the signal
			}
			b.write("s/run.sh", work)
			built, _, stderr := b.run("build")
			require.Zero(t, built, stderr)
			started := make(chan *process, 1)
			stop := sync.OnceFunc(func() { _ = (<-started).cmd.Process.Signal(unix.SIGINT) })
			if test.lost {
				server.Fault(e2btest.Fault{On: e2btest.Create, Times: 1, Do: e2btest.CutAnswer()})
			}
			if test.at != e2btest.Any {
				server.Fault(e2btest.Fault{On: test.at, Times: 1, Do: e2btest.Delay(time.Second)})
				server.Watch(test.at, stop)
			}
			p := b.start("run", "--sandbox", "e2b", "--jsonl")
			started <- p
			if test.at == e2btest.Any {
				p.await(test.entry)
				stop()
			}
			code, outcome, says := 130, "interrupted", "Error: stopped by interrupt"
			if test.late {
				code, outcome, says = 0, "succeeded", "150 artifacts"
			}
			require.Equal(t, code, p.exitCode(), "%s", &p.stderr)
			require.Contains(t, p.stderr.String(), says)
			require.Empty(t, server.Sandboxes())
			b.verifies(0)
			require.Empty(t, b.live())
			require.Equal(t, outcome, b.finish(b.ledger()).Data["outcome"])
		})
	}
}

// Who leaves while the sandbox is being ended is told that it may live, and gc ends it.
func TestLeftAtE2B(t *testing.T) {
	b, server := e2bProject(t, e2btest.Options{})
	kills := make(chan struct{}, 10)
	server.Watch(e2btest.Kill, func() { kills <- struct{}{} })
	server.Fault(e2btest.Fault{On: e2btest.Kill, Times: 1, Do: e2btest.Delay(time.Hour)})
	p := b.start("run", "--sandbox", "e2b", "--jsonl")
	<-kills
	for signal := range signalCodes { // three that wait side by side
		require.NoError(t, p.cmd.Process.Signal(signal))
	}
	require.Equal(t, 6, p.exitCode(), "%s", &p.stderr)
	require.Contains(t, p.stderr.String(), "a VM may still be alive")
	require.Len(t, server.Sandboxes(), 1)
	b.verifies(7)
	code, stdout, stderr := b.run("gc")
	require.Zero(t, code, "%s%s", stdout, stderr)
	require.Empty(t, server.Sandboxes())
	require.Empty(t, b.live())
}

// A request for a sandbox that may have been heard and left nothing to find: the run cannot know, and says so.
func TestUnansweredAtE2B(t *testing.T) {
	b, server := e2bProject(t, e2btest.Options{})
	server.Fault(e2btest.Fault{On: e2btest.Create, Times: 1, Do: e2btest.Cut()})
	code, _, stderr := b.run("run", "--sandbox", "e2b")
	require.Equal(t, 6, code, stderr)
	require.Contains(t, stderr, "may still be alive")
	require.Empty(t, server.Sandboxes())
	b.verifies(0)
	code, stdout, stderr := b.run("gc")
	require.Zero(t, code, "%s%s", stdout, stderr)
	require.Empty(t, b.live())
}

// Where no kill can be had, that is what the run says, and gc ends the sandbox once it can.
func TestKillRefusedAtE2B(t *testing.T) {
	b, server := e2bProject(t, e2btest.Options{})
	server.Fault(e2btest.Fault{On: e2btest.Kill, Times: 1, Do: e2btest.Answer(401, "no")})
	code, _, stderr := b.run("run", "--sandbox", "e2b")
	require.Equal(t, 6, code, stderr)
	require.Contains(t, stderr, "may still be alive")
	require.Contains(t, stderr, "joy gc")
	require.Len(t, server.Sandboxes(), 1)
	b.verifies(0)
	require.Len(t, b.live(), 1)

	var circle atomic.Bool
	circle.Store(true)
	server.Fault(e2btest.Fault{On: e2btest.List, Do: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if circle.Load() {
			e2btest.RepeatToken()(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}})
	code, _, stderr = b.run("gc")
	require.Equal(t, 6, code, "what the list hides cannot be known")
	require.Contains(t, stderr, "go in a circle")
	require.Empty(t, server.Sandboxes(), "what it shows is ended")
	require.Len(t, b.live(), 1, "and what it may hide is not forgotten")
	circle.Store(false)
	code, _, stderr = b.run("gc")
	require.Zero(t, code, stderr)
	require.Empty(t, b.live())
}
