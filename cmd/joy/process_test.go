//go:build linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait for something that a loaded machine still gets done.
const patience = 3 * time.Minute

// entry is what these tests read of a line of the ledger.
type entry struct {
	Time string         `json:"time"`
	Type string         `json:"type"`
	Step string         `json:"step"`
	Data map[string]any `json:"data"`
}

// process is a joy at work: its ledger is followed as it is printed.
type process struct {
	t       testing.TB
	cmd     *exec.Cmd
	entries chan entry
	stderr  bytes.Buffer
	ended   chan error
}

func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.t.Context(), cmp.Or(b.joy, "joy"), args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	return cmd
}

// start runs joy and leaves it running; a test that ends early takes it along.
func (b *bench) start(args ...string) *process {
	b.t.Helper()
	p := &process{t: b.t, cmd: b.command(args...), entries: make(chan entry, 1000), ended: make(chan error, 1)}
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(b.t, err)
	require.NoError(b.t, p.cmd.Start())
	go p.follow(stdout)
	return p
}

func (p *process) follow(stdout io.Reader) {
	r := bufio.NewReader(stdout)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			e = entry{Type: fmt.Sprintf("no JSON: %v: %s", err, line)}
		}
		p.entries <- e
	}
	close(p.entries)
	p.ended <- p.cmd.Wait()
}

// await is the next entry of a type; those before it are passed over.
func (p *process) await(typ string) entry {
	p.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case e, ok := <-p.entries:
			require.True(p.t, ok, "joy ended before %s: %s", typ, &p.stderr)
			if e.Type == typ {
				return e
			}
		case <-limit:
			require.Fail(p.t, "no "+typ, "%s", &p.stderr)
		}
	}
}

// exitCode waits for the end. A process that a signal killed has -1.
func (p *process) exitCode() int {
	p.t.Helper()
	select {
	case err := <-p.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			require.NoError(p.t, err)
		}
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		require.Fail(p.t, "joy does not end", "%s", &p.stderr)
		return 0
	}
}

// run runs joy to its end.
func (b *bench) run(args ...string) (code int, stdout, stderr string) {
	b.t.Helper()
	cmd := b.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(b.t, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// ledger reads the latest run's.
func (b *bench) ledger() []entry {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*/ledger.jsonl"))
	require.NoError(b.t, err)
	require.NotEmpty(b.t, files)
	return readLedger(b.t, files[len(files)-1])
}

// documented are the keys of data that the page on the format has for each type.
var documented = sync.OnceValues(func() (map[string]map[string]bool, error) {
	page, err := os.ReadFile("../../docs/ledger-format.md")
	if err != nil {
		return nil, err
	}
	_, table, _ := strings.Cut(string(page), "<!-- types -->\n")
	table, _, _ = strings.Cut(table, "\n\n")
	types := map[string]map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.SplitN(line, "|", 4)
		keys := map[string]bool{}
		for _, quoted := range codes.FindAllString(cells[3], -1) {
			for _, key := range inCode.FindAllString(quoted, -1) {
				keys[key] = true
			}
		}
		types[strings.Trim(cells[1], " `")] = keys
	}
	return types, nil
})

var codes, inCode = regexp.MustCompile("`[^`]+`"), regexp.MustCompile(`[a-z][a-z0-9_]*`)

// readLedger holds that every line is an object of its own, with nothing in its data that the page on the format does not name.
func readLedger(t testing.TB, file string) []entry {
	t.Helper()
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	types, err := documented()
	require.NoError(t, err)
	var list []entry
	for line := range strings.Lines(string(body)) {
		var e entry
		require.NoError(t, json.Unmarshal([]byte(line), &e), "%s", line)
		for key := range e.Data {
			require.True(t, types[e.Type][key], "docs/ledger-format.md has no %s of %s", key, e.Type)
		}
		list = append(list, e)
	}
	return list
}

func only(entries []entry, typ string) []entry {
	var list []entry
	for _, e := range entries {
		if e.Type == typ {
			list = append(list, e)
		}
	}
	return list
}

// finish is the last entry but the seal's: run.finished, however the run ended.
func (b *bench) finish(entries []entry) entry {
	b.t.Helper()
	require.GreaterOrEqual(b.t, len(entries), 2)
	last := entries[len(entries)-2:]
	require.Equal(b.t, []string{"run.finished", "run.sealed"}, []string{last[0].Type, last[1].Type})
	return last[0]
}

// verifies asserts the exit code of joy ledger verify on the latest run.
func (b *bench) verifies(want int) {
	b.t.Helper()
	code, stdout, stderr := b.run("ledger", "verify", "latest")
	require.Equal(b.t, want, code, "%s%s", stdout, stderr)
}

// vmPID is QEMU's, from the id of sandbox.created.
func vmPID(t testing.TB, created entry) int {
	t.Helper()
	var pid int
	_, err := fmt.Sscanf(created.Data["id"].(string), "qemu:%d:", &pid)
	require.NoError(t, err)
	return pid
}

// alive says whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}
