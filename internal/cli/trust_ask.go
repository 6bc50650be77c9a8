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

// reply is what was typed.
type reply struct {
	line string
	err  error
}

// canAsk says whether there is a person who sees a question and can answer it.
func (a *app) canAsk() bool { return !a.json && a.err.tty && term.IsTerminal(a.env.Stdin) }

// ask puts a question on a terminal (see canAsk) and returns the line that is typed, without white space at its ends. What
// was typed before the question is thrown away: it was no answer to it. A question that is given up leaves its reader
// behind, and the next one takes it over: two would share what is typed. Questions are put one at a time.
func (a *app) ask(ctx context.Context, question string) (string, error) {
	if f, ok := a.env.Stdin.(*os.File); ok {
		forgetTyped(f)
	}
	if _, err := fmt.Fprint(a.err, question); err != nil {
		return "", err
	}
	if a.typing == nil {
		typing := make(chan reply, 1)
		go func() {
			line, err := bufio.NewReader(io.LimitReader(a.env.Stdin, maxAnswer)).ReadString('\n')
			typing <- reply{line, err}
		}()
		a.typing = typing
	}
	select {
	case r := <-a.typing:
		a.typing = nil
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
