package config

import (
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/fault"
)

// Dirs are joy's own directories of the user, by the XDG base directory specification
// (https://specifications.freedesktop.org/basedir-spec/latest/), on every operating system. None is created here.
type Dirs struct {
	Config  string // settings
	State   string // the index of runs
	Cache   string // images
	Runtime string // sockets; to be created 0700
}

// ConfigFile is the user's configuration.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.yaml") }

// dirsOf follows the environment. A relative XDG variable is ignored, as the specification demands. Without
// XDG_RUNTIME_DIR sockets live below the state directory, which is the user's alone as well.
func dirsOf(lookup func(string) (string, bool)) (Dirs, error) {
	home, err := homeOf(lookup)
	base := func(key string, fallback ...string) string {
		if dir, _ := lookup(key); filepath.IsAbs(dir) {
			return filepath.Join(dir, "joy")
		}
		if home == "" {
			return ""
		}
		return filepath.Join(append(append([]string{home}, fallback...), "joy")...)
	}
	d := Dirs{
		Config: base("XDG_CONFIG_HOME", ".config"),
		State:  base("XDG_STATE_HOME", ".local", "state"),
		Cache:  base("XDG_CACHE_HOME", ".cache"),
	}
	if d.Config == "" || d.State == "" || d.Cache == "" {
		return Dirs{}, fault.Wrap(fault.Input, err, "find the home directory").
			WithHint("set HOME, or all of XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME")
	}
	d.Runtime = filepath.Join(d.State, "run")
	if dir, _ := lookup("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		d.Runtime = filepath.Join(dir, "joy")
	}
	return d, nil
}

// homeOf prefers the given environment to the process's.
func homeOf(lookup func(string) (string, bool)) (string, error) {
	for _, key := range []string{"HOME", "USERPROFILE"} {
		if dir, _ := lookup(key); filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	return os.UserHomeDir()
}
