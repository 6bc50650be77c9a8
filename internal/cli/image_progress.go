package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/term"
)

// phaseTick is how often a terminal is redrawn while a phase lasts.
const phaseTick = 200 * time.Millisecond

// phaseView shows on stderr where something long stands: a line for each phase; on a terminal the last one is redrawn
// with the time it has taken and, where they can be counted, the bytes.
type phaseView struct {
	app  *app
	now  func() time.Time // nil = time.Now
	live bool             // redraw

	mu    sync.Mutex
	at    image.Progress
	since time.Time
	done  chan struct{}
	gone  sync.WaitGroup
}

// watchPhases begins a view. end must be called, also after a failure.
func (a *app) watchPhases() *phaseView {
	v := &phaseView{app: a, now: time.Now, live: a.err.tty && !a.quiet && a.verbose == 0, done: make(chan struct{})}
	if !v.live {
		return v
	}
	v.gone.Add(1)
	go func() {
		defer v.gone.Done()
		tick := time.NewTicker(phaseTick)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				v.mu.Lock()
				v.draw("")
				v.mu.Unlock()
			case <-v.done:
				return
			}
		}
	}()
	return v
}

// tell takes what image tells.
func (v *phaseView) tell(p image.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	begins := p.Phase != v.at.Phase
	if begins {
		v.draw("\n")
	}
	v.at = p
	if !begins {
		return
	}
	v.since = v.now()
	if v.live {
		v.draw("")
	} else {
		v.app.say("%s", term.Line(p.Phase))
	}
}

// end leaves the last phase as it stands.
func (v *phaseView) end() {
	close(v.done)
	v.gone.Wait()
	v.draw("\n")
}

// draw writes the line over the one before and then what ends it.
func (v *phaseView) draw(end string) {
	if !v.live || v.at.Phase == "" {
		return
	}
	err := v.app.err
	fmt.Fprintf(err.raw, "\r\x1b[K%s%s", ansi.Truncate(phaseLine(v.at, v.now().Sub(v.since)), err.width-1, "…"), end)
}

// phaseLine is a phase with its bytes and time.
func phaseLine(p image.Progress, took time.Duration) string {
	line := term.Line(p.Phase)
	switch {
	case p.Total > 0:
		line += fmt.Sprintf("  %s of %s", term.Size(p.Done), term.Size(p.Total))
	case p.Done > 0:
		line += "  " + term.Size(p.Done)
	}
	if took >= time.Second {
		line += "  " + took.Truncate(time.Second).String()
	}
	return line
}
