package cli

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/joystream-ai/joy/internal/term"
)

// ui is one stream and the styles that fit it. Colours are ANSI 0 to 15 only, so that the terminal's own theme decides.
// What is written to it is for people, and guarded.
type ui struct {
	*term.Guard
	raw   io.Writer   // for bytes that are themselves the product, and for sequences of joy's own that move the cursor
	gone  func() bool // nobody reads any more
	tty   bool
	width int // columns

	bold, dim, good, warn, fail, note lipgloss.Style
}

func (a *app) setColor(mode string) {
	a.out = newUI(a.env.Stdout, mode, a.env.LookupEnv)
	a.err = newUI(a.env.Stderr, mode, a.env.LookupEnv)
}

func newUI(w io.Writer, mode string, lookup func(string) (string, bool)) *ui {
	out := &patient{w: w}
	u := &ui{Guard: &term.Guard{W: out}, raw: out, gone: out.gone.Load, tty: term.IsTerminal(w), width: term.Width(w)}
	r := lipgloss.NewRenderer(w)
	// Both are set by hand because lipgloss would ask the terminal, and its answer arrives on stdin.
	r.SetHasDarkBackground(true)
	r.SetColorProfile(termenv.Ascii)
	if term.Color(w, mode, lookup) {
		r.SetColorProfile(termenv.ANSI)
	}
	color := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	u.bold, u.dim = r.NewStyle().Bold(true), r.NewStyle().Faint(true)
	u.good, u.warn, u.fail, u.note = color("2"), color("3"), color("1").Bold(true), color("6")
	for _, style := range []lipgloss.Style{u.bold, u.dim, u.good, u.warn, u.fail, u.note} {
		before, after, _ := strings.Cut(style.Render("x"), "x")
		u.Own = append(u.Own, before, after)
	}
	return u
}

// lines writes lines of JSON: as they are, unless a terminal would act on them.
func (u *ui) lines(b []byte) (int, error) {
	if !u.tty {
		return u.raw.Write(b)
	}
	if _, err := u.raw.Write(term.JSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// jsonLines is lines as a Writer.
type jsonLines struct{ *ui }

func (j jsonLines) Write(b []byte) (int, error) { return j.lines(b) }

// patient drops what a reader that went away would not have read: `joy run | head -1` still finishes its run.
type patient struct {
	w    io.Writer
	gone atomic.Bool
}

func (p *patient) Write(b []byte) (int, error) {
	if p.gone.Load() {
		return len(b), nil
	}
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		p.gone.Store(true)
		return len(b), nil
	}
	return n, err
}
