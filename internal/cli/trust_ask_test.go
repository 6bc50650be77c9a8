//go:build linux

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/trust"
)

// terminal is a pseudo-terminal: what a person sees and types, and the end that joy has.
type terminal struct {
	t      *testing.T
	person *os.File
	joy    *os.File
	seen   bytes.Buffer
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	fd := int(person.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	joy, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = joy.Close(), person.Close() })
	return &terminal{t: t, person: person, joy: joy}
}

// until reads what joy shows until it holds text.
func (p *terminal) until(text string) {
	p.t.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(p.seen.String(), text) {
		n, err := p.person.Read(buf)
		require.NoError(p.t, err)
		p.seen.Write(buf[:n])
	}
}

func (p *terminal) types(line string) {
	p.t.Helper()
	_, err := p.person.WriteString(line + "\n")
	require.NoError(p.t, err)
}

const asks = `version: 1
name: asks
skills: [a]
connections: {evil: {command: [touch, "\u202eowned\e[2J"]}}
`

// visit is a home and a project, on a terminal.
func visit(t *testing.T, p *terminal, spec string) Env {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, trust.SpecName), []byte(spec), 0o600))
	return Env{
		Stdin: p.joy, Stdout: p.joy, Stderr: p.joy, Dir: dir, OperatorPolicy: filepath.Join(home, "none"),
		LookupEnv: func(key string) (string, bool) { return home, key == "HOME" },
	}
}

func TestTrustIsTyped(t *testing.T) {
	for _, c := range []struct {
		before, answer string
		want           int
	}{
		{"", "no", 4},
		{"", "", 4},
		{"", "y", 4},
		{"", "yes please", 4},
		{"", "\x04", 4}, // the end of input
		{"yes", "no", 4},
		{"", "yes", 0},
	} {
		p := newTerminal(t)
		env := visit(t, p, asks)
		if c.before != "" { // typed before there was a question
			p.types(c.before)
			p.until(c.before)
		}
		done := make(chan int)
		go func() { done <- Main(t.Context(), []string{"trust"}, env) }()
		p.until("Type yes to allow exactly that (")
		p.types(c.answer)
		require.Equal(t, c.want, <-done, "%q %q", c.before, c.answer)
		require.NotContains(t, p.seen.String(), "\u202e")
		require.NotContains(t, p.seen.String(), "\x1b[2J")
		p.until(`\u202eowned\x1b[2J`)
	}
}

// What was allowed stays so until it changes, and then what is new is shown.
func TestTrustShowsWhatChanged(t *testing.T) {
	p := newTerminal(t)
	env := visit(t, p, asks)
	run := func(answer string, args ...string) int {
		t.Helper()
		p.seen.Reset()
		done := make(chan int)
		go func() { done <- Main(t.Context(), args, env) }()
		if answer != "" {
			p.until("Type yes to allow exactly that (")
			p.types(answer)
		}
		return <-done
	}
	require.Equal(t, 0, run("yes", "trust"))
	require.Equal(t, 0, run("", "trust"))
	p.until("that is allowed")
	require.NoError(t, os.WriteFile(filepath.Join(env.Dir, trust.SpecName), []byte(asks+"policy: {egress: [evil.example.com]}\n"), 0o600))
	require.Equal(t, 4, run("no", "trust"))
	p.until("+ let the VM reach evil.example.com")
	require.Equal(t, 0, run("", "trust", "--list"))
	p.until("1 thing")
	require.Equal(t, 0, run("", "trust", "--revoke"))
	p.until("any more")
	require.Equal(t, 4, run("no", "connect", "test"))
	require.NoFileExists(t, filepath.Join(env.Dir, "owned"))
}

// A value is typed without being shown.
func TestSecretIsTypedUnseen(t *testing.T) {
	p := newTerminal(t)
	env := visit(t, p, asks)
	done := make(chan int)
	go func() {
		done <- Main(t.Context(), []string{"secret", "set", "drive", "--for", "https://mcp.example.com"}, env)
	}()
	p.until("Value of drive, for https://mcp.example.com:443 (not shown): ")
	p.types("canary-5f1c9a7e") // at once
	p.until("stored in")
	require.Equal(t, 0, <-done)
	require.NotContains(t, p.seen.String(), "canary")
}
