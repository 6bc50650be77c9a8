package client

import "context"

// Start is a process to be started. It belongs to the daemon, not to the stream: it lives on when that is closed.
type Start struct {
	Cmd   string
	Args  []string
	Env   map[string]string // over the daemon's own
	Dir   string            // "": the user's home
	Stdin bool              // false: it has none
}

// Start starts a process. Only an Event with End says that it has ended. ErrUnknown and ErrCut mean that it may run.
// Output that nobody reads holds the process back; output for which no stream is there is lost.
func (d *Daemon) Start(ctx context.Context, p Start) (*Stream, error) {
	process := map[string]any{"cmd": p.Cmd, "args": p.Args, "envs": p.Env}
	if p.Dir != "" {
		process["cwd"] = p.Dir
	}
	return d.stream(ctx, "starting a process in the sandbox", "/process.Process/Start", map[string]any{"process": process, "stdin": p.Stdin})
}

// Connect is the output of a process from now on, or its end when that was less than half a minute ago. Another stream
// of it must have been closed: one that nobody reads would hold both back.
func (d *Daemon) Connect(ctx context.Context, pid int) (*Stream, error) {
	return d.stream(ctx, "returning to a process in the sandbox", "/process.Process/Connect", map[string]any{"process": selector(pid)})
}

// selector names a process by its number: the daemon's search by tag finds only the first.
func selector(pid int) map[string]int { return map[string]int{"pid": pid} }

// SendInput writes to a process's input, whole or not at all as long as the process reads. ErrUnknown may be either.
func (d *Daemon) SendInput(ctx context.Context, pid int, b []byte) error {
	in := struct {
		Process map[string]int    `json:"process"`
		Input   map[string][]byte `json:"input"`
	}{selector(pid), map[string][]byte{"stdin": b}}
	return d.unary(ctx, "sending to a process in the sandbox", "/process.Process/SendInput", in)
}

// CloseStdin ends a process's input.
func (d *Daemon) CloseStdin(ctx context.Context, pid int) error {
	return d.unary(ctx, "ending a process's input", "/process.Process/CloseStdin", map[string]any{"process": selector(pid)})
}

// Signal is one that the daemon can send.
type Signal string

// The two that it can.
const (
	Terminate Signal = "SIGNAL_SIGTERM"
	Kill      Signal = "SIGNAL_SIGKILL"
)

// SendSignal signals a process, and none of those that it started.
func (d *Daemon) SendSignal(ctx context.Context, pid int, sig Signal) error {
	return d.unary(ctx, "signalling a process in the sandbox", "/process.Process/SendSignal", map[string]any{"process": selector(pid), "signal": sig})
}
