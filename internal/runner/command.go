package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
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

// invocation is what a step executes in its world.
type invocation struct {
	argv []string
	text string   // as the record has it
	log  string   // name of its kept output
	head int      // bytes of each stream's beginning that are remembered
	in   *input   // nil: it has none
	left []string // the inputs that the environment has no room for
}

// entry is the invocation of the step's entry point, which is the file script in the VM.
func entry(s plan.Step, script string, in *input, left []string) invocation {
	argv := append(append([]string{}, s.Entry.Argv...), script)
	return invocation{argv: argv, text: shellText(argv), log: s.ID + ".1", head: maxHead, in: in, left: left}
}

// command executes an invocation. The intent is durable before it begins. The command is returned also with an error, with
// whatever it printed until then; it has a seq when it was begun.
func (r *run) command(ctx context.Context, w sandbox.World, s plan.Step, do invocation, res *result) (*command, error) {
	c := &command{}
	if r.LogDir != "" {
		res.Log = filepath.Join(r.LogDir, do.log)
	}
	var err error
	if c.stdout, err = r.newCapture(res.Log, "stdout", do.head); err != nil {
		return c, err
	}
	defer c.stdout.close()
	if c.stderr, err = r.newCapture(res.Log, "stderr", min(do.head, maxShown)); err != nil {
		return c, err
	}
	defer c.stderr.close()
	if c.seq, err = r.recordStart(s.ID, do); err != nil {
		return c, err
	}
	begun := r.Now()
	c.res, err = w.Run(ctx, sandbox.Command{Argv: do.argv}, c.stdout, c.stderr)
	c.symbolic = c.res.Symbolic
	if closing := errors.Join(c.stdout.close(), c.stderr.close()); err == nil {
		err = closing
	}
	if err == nil && (c.res.ExitCode < 0 || c.res.ExitCode > 255) {
		err = fmt.Errorf("the VM reported an exit status that there is not: %d", c.res.ExitCode)
	}
	if why := forbidden(ctx); why != nil && err != nil {
		err = why
	}
	if err == nil {
		res.ExitCode = c.res.ExitCode
	}
	res.Tail = c.tail()
	rerr := r.recordEnd(s.ID, c, err, r.Now().Sub(begun))
	return c, errors.Join(blame(ctx, err), rerr)
}

// blame makes a command that could not be started the step's own failure: the VM is there, what the step wants to
// run in it is not. See sandbox.World.
func blame(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, sandbox.ErrLost) || errors.Is(err, errKeep) {
		return err
	}
	return fault.Wrap(fault.Agent, err, "the script could not be run")
}

// recordStart writes command.started, durably, with the digest of the input the command will find.
func (r *run) recordStart(step string, do invocation) (int64, error) {
	d := ledger.Data{"command": r.scribe.Exact(do.text), "bytes": len(do.text)}
	if do.in != nil {
		given, err := r.keepJSON(json.RawMessage(do.in.json))
		if err != nil {
			return 0, err
		}
		d["input"] = given
	}
	if len(do.left) > 0 {
		d["env_left_out"] = do.left
	}
	return r.Ledger.Effect(ledger.CommandStarted, step, d)
}

// recordEnd writes command.finished and what was found in the output. Without an exit status there is one entry all
// the same, unless the VM is gone: then the outcome is unknown, which is what a start without an end says.
func (r *run) recordEnd(step string, c *command, err error, took time.Duration) error {
	var errs []error
	if !errors.Is(err, sandbox.ErrLost) {
		_, rerr := r.Ledger.Append(ledger.CommandFinished, step, r.endData(c, err, took))
		errs = append(errs, rerr)
	}
	errs = append(errs, r.recordFinds(step, "stdout", c.stdout.finds, c.stdout.mac), r.recordFinds(step, "stderr", c.stderr.finds, c.stderr.mac))
	return errors.Join(errs...)
}

func (r *run) endData(c *command, err error, took time.Duration) ledger.Data {
	d := ledger.Data{"of": c.seq, "ms": took.Milliseconds(), "stdout": c.stdout.data(), "stderr": c.stderr.data()}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		d["ended_by"] = "time limit"
	case errors.Is(err, context.Canceled):
		d["ended_by"] = "interrupt"
	case err != nil:
		d["ended_by"] = r.scribe.Text(err.Error())
	case c.symbolic:
		d["ended_by"] = "not executed"
	default:
		d["exit"] = c.res.ExitCode
	}
	if c.res.Signal != "" {
		d["signal"] = r.scribe.Text(c.res.Signal)
	}
	if c.res.Reason != "" {
		d["reason"] = r.scribe.Text(c.res.Reason)
	}
	return d
}

// failure says in one line how a command failed.
func (c *command) failure() error {
	switch {
	case c.res.Reason == "oom":
		return errors.New("the step ran out of memory and was ended")
	case c.res.Reason == "pids":
		return fmt.Errorf("the step started too many processes; exit status %d", c.res.ExitCode)
	case c.res.Reason == "disk":
		return fmt.Errorf("the step filled its share of the disk; exit status %d", c.res.ExitCode)
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
