package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// load resolves settings with a home of its own. file is the user's configuration, "" for none.
func load(t *testing.T, file string, env map[string]string, args ...string) (*Config, error) {
	t.Helper()
	home := t.TempDir()
	if file != "" {
		dir := filepath.Join(home, ".config", "joy")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(file), 0o600))
	}
	lookup := func(key string) (string, bool) {
		if key == "HOME" {
			return home, true
		}
		v, ok := env[key]
		return v, ok
	}
	flags := pflag.NewFlagSet("joy", pflag.ContinueOnError)
	flags.String("color", "auto", "")
	flags.String("state-dir", "", "")
	require.NoError(t, flags.Parse(args))
	return Load(lookup, flags.Lookup)
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		file, env, arg, want string
	}{
		"unknown key":       {"color: never\nsanbox: e2b\n", "", "", "config.yaml:2:1: unknown setting \"sanbox\""},
		"key set twice":     {"color: never\ncolor: never\n", "", "", "config.yaml:2:1: color is set twice"},
		"list for text":     {"color: [never]\n", "", "", "config.yaml:1:8: color takes one value"},
		"not a mapping":     {"never\n", "", "", "want a mapping"},
		"not YAML":          {"color: [\n", "", "", "config.yaml"},
		"an alias":          {"color: &a never\nmodel: *a\n", "", "", "model takes one value"},
		"bad value, file":   {"sandbox: docker\n", "", "", "config.yaml: sandbox is \"docker\""},
		"bad value, env":    {"", "docker", "", "JOY_SANDBOX is \"docker\""},
		"bad value, flag":   {"", "", "--color=pink", "--color is \"pink\""},
		"too large":         {"# " + strings.Repeat("x", maxFile), "", "", "larger than 1 MiB"},
		"no number":         {"max_vms: many\n", "", "", "config.yaml: max_vms is \"many\", not a number"},
		"below zero":        {"max_vms: -1\n", "", "", "max_vms is \"-1\", not a number"},
		"a fraction":        {"max_vms: 1.5\n", "", "", "not a number"},
		"a huge number":     {"max_vms: 99999999999999999999\n", "", "", "from 0 to 100000"},
		"case is not lower": {"Color: never\n", "", "", "unknown setting \"Color\""},
	} {
		t.Run(name, func(t *testing.T) {
			var args []string
			if c.arg != "" {
				args = []string{c.arg}
			}
			_, err := load(t, c.file, map[string]string{"JOY_SANDBOX": c.env}, args...)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.Input, fault.KindOf(err))
		})
	}
}

func TestPrecedence(t *testing.T) {
	file := "color: never\nsandbox: e2b\nmodel: openai/x\nstate_dir: /file\n"
	env := map[string]string{"JOY_SANDBOX": "kata", "JOY_STATE_DIR": "/env", "JOY_COLOR": ""}

	c, err := load(t, file, env, "--state-dir=/flag")
	require.NoError(t, err)
	require.Equal(t, []string{"never", "kata", "openai/x", "/flag", ""}, []string{c.Color, c.Sandbox, c.Model, c.StateDir, c.Mirror})
	require.Equal(t, map[string]string{
		"color": c.Dirs.ConfigFile(), "sandbox": "env", "model": c.Dirs.ConfigFile(), "state_dir": "flag", "mirror": "default", "accel": "default", "max_vms": "default",
		"containerd": "default", "kata_runtime": "default",
	}, c.Origin)
}

func TestDefaults(t *testing.T) {
	for _, file := range []string{"", "\n", "# nothing said\n"} {
		c, err := load(t, file, nil)
		require.NoError(t, err)
		require.Equal(t, "auto", c.Color)
		require.Equal(t, "microvm", c.Sandbox)
		require.Empty(t, c.StateDir)
		require.Zero(t, c.MaxVMs)
	}
	c, err := load(t, "max_vms: 3\n", map[string]string{"JOY_MAX_VMS": "5"})
	require.NoError(t, err)
	require.Equal(t, 5, c.MaxVMs)
}

func TestDirs(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	env := map[string]string{"HOME": home, "XDG_STATE_HOME": other, "XDG_CACHE_HOME": "relative"}
	d, err := dirsOf(func(key string) (string, bool) { v, ok := env[key]; return v, ok })
	require.NoError(t, err)
	require.Equal(t, Dirs{
		Config:  filepath.Join(home, ".config", "joy"),
		State:   filepath.Join(other, "joy"),
		Cache:   filepath.Join(home, ".cache", "joy"),
		Runtime: filepath.Join(other, "joy", "run"),
	}, d)

	env["XDG_RUNTIME_DIR"] = home
	d, err = dirsOf(func(key string) (string, bool) { v, ok := env[key]; return v, ok })
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, "joy"), d.Runtime)
}

func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{"", "color: never", "- a", "{}", "a: &x 1\nb: *x", "color: {a: b}", "? [a]\n: b", "!!binary x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := parseFile("config.yaml", data)
		if err != nil {
			require.Equal(t, fault.Input, fault.KindOf(err))
		}
		for key := range values {
			require.True(t, known(key))
		}
	})
}
