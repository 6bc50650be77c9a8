package guest

import (
	"errors"
	"fmt"
	"io"
)

const usage = `usage: joy-guest tools [--json]
       joy-guest call ACTION [--json '{…}' | --json @FILE | --json - | KEY=VALUE…] [--raw]

tools lists the actions that the plan grants to this step, with their arguments.
call calls one through joy's broker and prints its result.

  --json ARGS     the arguments as a JSON object; @FILE reads it from FILE, - from standard input
  KEY=VALUE       an argument that is text
  KEY=@FILE       an argument that is the text of FILE
  KEY:=JSON       an argument that is any JSON value: count:=3 all:=true
  --raw           print the whole answer of the tool's server, as it came

exit codes: 0 ok, 1 the tool or its server failed, 2 wrong arguments, 3 the tool is not the pinned one,
            4 it needs an approval, 5 the plan does not allow it, 6 the broker could not be asked
`

// Exit codes of the commands, the same kinds as joy's own (docs/exit-codes.md).
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDrift       = 3
	exitConsent     = 4
	exitDenied      = 5
	exitUnreachable = 6
)

// caller is a command of a step: joy-guest as a program found it on its PATH. It knows the broker from the step's
// environment alone and can do nothing that the step could not do with a socket.
type caller struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
}

// problem is why a command failed, with its exit code.
type problem struct {
	code int
	text string
}

func (p *problem) Error() string { return p.text }

func misuse(format string, args ...any) error {
	return &problem{exitUsage, fmt.Sprintf(format, args...)}
}

// run is one command line, without the program's name. It returns the exit code.
func (c *caller) run(args []string) int {
	err := c.command(args)
	var p *problem
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &p):
	default: // a stream of its own that broke
		p = &problem{exitFailed, err.Error()}
	}
	if p.text != "" {
		fmt.Fprintln(c.stderr, "joy-guest:", p.text)
	}
	return p.code
}

func (c *caller) command(args []string) error {
	if len(args) == 0 {
		fmt.Fprint(c.stderr, usage)
		return &problem{code: exitUsage}
	}
	switch args[0] {
	case "help", "--help", "-h":
		_, err := io.WriteString(c.stdout, usage)
		return err
	case "tools":
		return c.tools(args[1:])
	case "call":
		return c.call(args[1:])
	}
	return misuse("there is no command %q; joy-guest help", args[0])
}

func (c *caller) call(args []string) error {
	line, err := parseCall(args)
	if err != nil {
		return err
	}
	body, err := line.body(c.stdin)
	if err != nil {
		return err
	}
	answer, err := c.ask("POST", "/v1/call", body)
	if err != nil {
		return err
	}
	return c.printResult(answer, line.raw)
}

func (c *caller) tools(args []string) error {
	asJSON := false
	for _, arg := range args {
		if arg != "--json" {
			return misuse("tools takes no %q; joy-guest help", arg)
		}
		asJSON = true
	}
	answer, err := c.ask("GET", "/v1/tools", nil)
	if err != nil {
		return err
	}
	return c.printTools(answer, asJSON)
}
