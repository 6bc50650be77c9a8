package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// command is one executed command: how it ended and what it printed.
type command struct {
	seq            int64 // of command.started
	res            sandbox.Result
	symbolic       bool
	stdout, stderr *capture
}

// command executes the step's entry point. The intent is durable before it begins. The command is returned also with
// an error, with whatever it printed until then. left are the inputs that the environment has no room for.
func (r *run) command(ctx context.Context, w sandbox.World, s plan.Step, skill plan.Skill, left []string, res *result) (*command, error) {
	entry := path.Join("/workspace/skills", skill.Name, s.Entry.Path)
	argv := append(append([]string{}, s.Entry.Argv...), entry)
	text := shellText(argv)
	d := ledger.Data{"command": r.text(text), "bytes": len(text)}
	if len(left) > 0 {
		d["env_left_out"] = left
	}
	c := &command{}
	var err error
	if c.seq, err = r.Ledger.Effect(ledger.CommandStarted, s.ID, d); err != nil {
		return c, err
	}
	if r.LogDir != "" {
		res.Log = filepath.Join(r.LogDir, s.ID+".1")
	}
	if c.stdout, err = r.newCapture(res.Log, "stdout"); err != nil {
		return c, err
	}
	defer c.stdout.close()
	if c.stderr, err = r.newCapture(res.Log, "stderr"); err != nil {
		return c, err
	}
	defer c.stderr.close()
	begun := r.Now()
	c.res, err = w.Run(ctx, sandbox.Command{Argv: argv}, c.stdout, c.stderr)
	c.symbolic = c.res.Symbolic
	if closing := errors.Join(c.stdout.close(), c.stderr.close()); err == nil {
		err = closing
	}
	res.ExitCode, res.Tail = c.res.ExitCode, c.tail()
	return c, errors.Join(err, r.recordEnd(s.ID, c, err, r.Now().Sub(begun)))
}

// recordEnd writes command.finished. Without an exit status there is one entry all the same, unless the VM is gone:
// then the outcome is unknown, which is what a start without an end says.
func (r *run) recordEnd(step string, c *command, err error, took time.Duration) error {
	if errors.Is(err, sandbox.ErrLost) {
		return nil
	}
	d := ledger.Data{"of": c.seq, "ms": took.Milliseconds(), "stdout": c.stdout.data(), "stderr": c.stderr.data()}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		d["ended_by"] = "time limit"
	case errors.Is(err, context.Canceled):
		d["ended_by"] = "interrupt"
	case err != nil:
		d["ended_by"] = r.text(err.Error())
	case c.symbolic:
		d["ended_by"] = "not executed"
	default:
		d["exit"] = c.res.ExitCode
	}
	if c.res.Signal != "" {
		d["signal"] = c.res.Signal
	}
	if c.res.Reason != "" {
		d["reason"] = c.res.Reason
	}
	_, rerr := r.Ledger.Append(ledger.CommandFinished, step, d)
	for _, out := range []struct {
		name string
		c    *capture
	}{{"stdout", c.stdout}, {"stderr", c.stderr}} {
		rerr = errors.Join(rerr, r.recordHits(step, out.name, out.c.hits))
	}
	return rerr
}

// failure says in one line how a command failed.
func (c *command) failure() error {
	switch {
	case c.res.Reason == "oom":
		return errors.New("the step ran out of memory and was ended")
	case c.res.Reason == "pids":
		return fmt.Errorf("the step started too many processes; exit status %d", c.res.ExitCode)
	case c.res.Signal != "":
		return fmt.Errorf("the script was ended by %s", c.res.Signal)
	}
	return fmt.Errorf("the script exited with status %d", c.res.ExitCode)
}

// tail is the last of what a person would look at: the errors, else the output.
func (c *command) tail() []byte {
	if t := bytes.TrimSpace(c.stderr.last()); len(t) > 0 {
		return t
	}
	return bytes.TrimSpace(c.stdout.last())
}

// shellText is a command as a person would type it.
func shellText(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = a
		if a == "" || strings.ContainsFunc(a, func(c rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+", c)
		}) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
