package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/term"
)

// maxAnswer bounds what a person types, in bytes.
const maxAnswer = 256

// canAsk says whether there is a person who sees a question and can answer it.
func (a *app) canAsk() bool { return !a.json && a.err.tty && term.IsTerminal(a.env.Stdin) }

// ask puts a question on a terminal (see canAsk) and returns the line that is typed, without white space at its ends. What
// was typed before the question is thrown away: it was no answer to it.
func (a *app) ask(ctx context.Context, question string) (string, error) {
	if f, ok := a.env.Stdin.(*os.File); ok {
		forgetTyped(f)
	}
	if _, err := fmt.Fprint(a.err, question); err != nil {
		return "", err
	}
	type reply struct {
		line string
		err  error
	}
	done := make(chan reply, 1)
	go func() { // left behind when the question is given up
		line, err := bufio.NewReader(io.LimitReader(a.env.Stdin, maxAnswer)).ReadString('\n')
		done <- reply{line, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			fmt.Fprintln(a.err)
			return "", fault.New(fault.Consent, "the question was not answered")
		}
		return strings.TrimSpace(r.line), nil
	case <-ctx.Done():
		fmt.Fprintln(a.err)
		return "", context.Cause(ctx)
	}
}
