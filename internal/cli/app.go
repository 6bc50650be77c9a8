package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/joystream-ai/joy/internal/config"
	"github.com/joystream-ai/joy/internal/state"
	"github.com/joystream-ai/joy/internal/term"
)

// app is what every command gets: streams, settings, the project's directory. A command reads it inside RunE; before
// that only env is set.
type app struct {
	env     Env
	signals *signals
	out     *ui            // stdout: the product
	err     *ui            // stderr: everything for people
	cfg     *config.Config // flags > JOY_* > user configuration > default
	dir     string         // absolute; where the command works (-C)

	json    bool
	quiet   bool
	verbose int
	ran     bool       // a command's RunE has begun
	typing  chan reply // what a person has yet to type; see ask
}

func newApp(env Env) *app {
	a := &app{env: env, signals: newSignals(), dir: env.Dir}
	a.setColor("auto")
	return a
}

func (a *app) addGlobalFlags(flags *pflag.FlagSet) {
	flags.StringP("directory", "C", "", "work in `DIR`")
	flags.BoolVar(&a.json, "json", false, "print JSON on stdout, errors too")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print only the result and errors")
	flags.CountVarP(&a.verbose, "verbose", "v", "say more on stderr; twice for everything")
	flags.String("color", "auto", "colour output: auto, always or never")
	flags.String("state-dir", "", "keep runs in `DIR` instead of .joy beside joy.yaml")
}

// prepare runs after the flags are parsed and before the command.
func (a *app) prepare(cmd *cobra.Command) error {
	if f := cmd.Flags().Lookup("directory"); f != nil && f.Changed {
		a.dir = a.abs(f.Value.String())
		if err := isDir(a.dir); err != nil {
			return usage(fmt.Errorf("-C %s: %w", f.Value, err), "name an existing directory")
		}
	}
	cfg, err := config.Load(a.env.LookupEnv, cmd.Flags().Lookup)
	if err != nil {
		return err
	}
	a.cfg = cfg
	a.setColor(cfg.Color)
	return nil
}

// abs makes a path of the command line absolute; messages keep the path as it was written.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.dir, path)
}

// openState opens the state directory of the project at dir (absolute), creating it.
func (a *app) openState(dir string) (*state.Dir, error) {
	return state.Open(dir, a.stateOverride())
}

// existingState opens it for a command that only reads, and never creates it.
func (a *app) existingState(dir string) (*state.Dir, error) {
	return state.OpenExisting(dir, a.stateOverride())
}

func (a *app) stateOverride() string {
	if a.cfg.StateDir == "" {
		return ""
	}
	return a.abs(a.cfg.StateDir)
}

// printJSON prints one document on stdout. v carries a schema field such as "joy.version/1".
func (a *app) printJSON(v any) error {
	text, err := jsonText(v)
	if err != nil {
		return err
	}
	_, err = a.out.raw.Write(text)
	return err
}

// jsonText is a document as printJSON prints it.
func jsonText(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return term.JSON(b.Bytes()), err
}

// say tells a person what goes on, on one line of stderr; -q silences it.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		a.tell(format, args...)
	}
}

// tell is say that -q does not silence.
func (a *app) tell(format string, args ...any) { _ = a.err.Printf(format, args...) }

// detail is say for those who asked for more with -v.
func (a *app) detail(format string, args ...any) {
	if a.verbose > 0 {
		a.say(format, args...)
	}
}

// warn is said even with -q.
func (a *app) warn(format string, args ...any) {
	a.tell("%s %s", a.err.warn.Render("warning:"), fmt.Sprintf(format, args...))
}

func isDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return errors.New("not a directory")
	}
	return err
}
