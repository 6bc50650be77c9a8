// Package config is the user's settings: flag > JOY_* > user configuration > default.
//
// The one rule: a project never configures joy. What a checked-out directory says is its joy.yaml and nothing here.
package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/term"
)

// Config is every setting, resolved. The zero value of a string means that nobody said anything.
type Config struct {
	Color    string `mapstructure:"color"`     // auto | always | never
	StateDir string `mapstructure:"state_dir"` // where runs are kept; empty = .joy beside joy.yaml
	Sandbox  string `mapstructure:"sandbox"`   // provider that run uses: microvm | kata | e2b
	Model    string `mapstructure:"model"`     // PROVIDER/NAME in place of the plan's model
	Mirror   string `mapstructure:"mirror"`    // URL of the Debian mirror that image build uses
	Accel    string `mapstructure:"accel"`     // how local VMs are run: auto | kvm | tcg
	MaxVMs   int    `mapstructure:"max_vms"`   // local VMs of this user at once; 0 = as many as there is room for

	Containerd  string `mapstructure:"containerd"`   // the socket of the containerd that makes Kata's VMs
	KataRuntime string `mapstructure:"kata_runtime"` // its runtime, io.containerd.kata….v2

	Dirs Dirs `mapstructure:"-"`
	// Origin says who set each setting: flag, env, the path of the user's file, or default.
	Origin map[string]string `mapstructure:"-"`
}

// setting is one key of the user's file. Its variable is JOY_ and the key in upper case; its flag is the key with
// hyphens, on the commands that have such a flag.
type setting struct {
	key      string
	fallback string
	oneOf    []string // nil = anything
	number   bool     // a whole number from 0 to maxNumber
}

// maxNumber bounds settings that are numbers.
const maxNumber = 100_000

var settings = []setting{
	{key: "color", fallback: "auto", oneOf: term.Modes},
	{key: "state_dir"},
	{key: "sandbox", fallback: "microvm", oneOf: []string{"microvm", "kata", "e2b"}},
	{key: "model"},
	{key: "mirror"},
	{key: "accel", fallback: "auto", oneOf: []string{"auto", "kvm", "tcg"}},
	{key: "max_vms", fallback: "0", number: true},
	{key: "containerd", fallback: "/run/containerd/containerd.sock"},
	{key: "kata_runtime", fallback: "io.containerd.kata.v2"},
}

func (s setting) env() string  { return "JOY_" + strings.ToUpper(s.key) }
func (s setting) flag() string { return strings.ReplaceAll(s.key, "_", "-") }

// Load resolves every setting. flag finds a flag of the running command, or nil; lookup is the environment. An empty
// variable counts as unset. Errors are fault.Input and name who said the wrong thing.
func Load(lookup func(string) (string, bool), flag func(name string) *pflag.Flag) (*Config, error) {
	dirs, err := dirsOf(lookup)
	if err != nil {
		return nil, err
	}
	path := dirs.ConfigFile()
	file, err := readFile(path)
	if err != nil {
		return nil, err
	}
	c := &Config{Dirs: dirs, Origin: map[string]string{}}
	v := viper.New()
	said := map[string]any{} // the file's values with the environment's over them
	for _, s := range settings {
		v.SetDefault(s.key, s.fallback)
		c.Origin[s.key] = "default"
		if value, ok := file[s.key]; ok {
			said[s.key], c.Origin[s.key] = value, path
		}
		if value, ok := lookup(s.env()); ok && value != "" {
			said[s.key], c.Origin[s.key] = value, "env"
		}
		if f := flag(s.flag()); f != nil && f.Changed {
			c.Origin[s.key] = "flag"
			if err := v.BindPFlag(s.key, f); err != nil {
				return nil, fmt.Errorf("bind --%s: %w", f.Name, err)
			}
		}
	}
	// Viper would read the process's environment by itself; joy's is the caller's, so it goes in as values.
	if err := v.MergeConfigMap(said); err != nil {
		return nil, fmt.Errorf("merge settings: %w", err)
	}
	for _, s := range settings {
		if err := s.check(v.GetString(s.key), c.Origin[s.key]); err != nil {
			return nil, err
		}
	}
	if err := v.Unmarshal(c); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return c, nil
}

func (s setting) check(value, origin string) error {
	want := "one of " + strings.Join(s.oneOf, ", ")
	if s.number {
		n, err := strconv.ParseUint(value, 10, 64)
		if err == nil && n <= maxNumber {
			return nil
		}
		want = fmt.Sprintf("a number from 0 to %d", maxNumber)
	} else if s.oneOf == nil || slices.Contains(s.oneOf, value) {
		return nil
	}
	where := map[string]string{"flag": "--" + s.flag(), "env": s.env()}[origin]
	if where == "" {
		where = s.key
	}
	e := fault.New(fault.Input, "%s is %q, not %s", where, value, want)
	e.Code = "JOY-CONFIG"
	if origin != "flag" && origin != "env" {
		e.File = origin
	}
	return e
}
