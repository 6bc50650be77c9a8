package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// usualVariables is what a program that gives a value gets of joy's environment. PATH is added: it is also searched.
var usualVariables = []string{
	"HOME", "USER", "LOGNAME", "LANG", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR",
	"SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", // of Windows, where nothing runs without the first
}

// opVariables are those of 1Password's program (https://developer.1password.com/docs/cli/environment-variables).
var opVariables = []string{"OP_SERVICE_ACCOUNT_TOKEN", "OP_CONNECT_HOST", "OP_CONNECT_TOKEN", "OP_ACCOUNT", "OP_BIOMETRIC_UNLOCK_ENABLED"}

// readProgram runs a program of the user's choice and takes what it prints. There is no shell, nothing on its stdin, and it
// does not start in the project. What it prints is never shown, its stderr neither: it may be the value.
func (r *Resolver) readProgram(ctx context.Context, argv, pass []string) ([]byte, error) {
	path, err := r.program(argv[0])
	if err != nil {
		return nil, err
	}
	out := &capped{}
	// The user's own configuration names the program; no project can.
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Args[0] = argv[0]
	if cmd.Dir = r.cfg.Home; cmd.Dir == "" {
		cmd.Dir = string(filepath.Separator)
	}
	cmd.Env = r.environment(pass)
	cmd.Stdout = out
	cmd.WaitDelay = time.Second // for what the program left behind with its stdout
	ownGroup(cmd)
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	case out.over:
		return nil, fmt.Errorf("%s printed more than %d KiB", argv[0], maxValue>>10)
	case err != nil:
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return nil, fmt.Errorf("%s ended with %s; run it yourself to see why", argv[0], ended.ProcessState)
		}
		return nil, fmt.Errorf("%s could not be run", argv[0])
	}
	return out.kept.Bytes(), nil
}

// program looks a bare name up on PATH, in its absolute directories only: a relative one is the project's.
func (r *Resolver) program(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	path, _ := r.cfg.LookupEnv("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s is not on PATH", name)
}

func (r *Resolver) environment(pass []string) []string {
	env := []string{}
	for _, name := range slices.Concat([]string{"PATH"}, usualVariables, pass) {
		if v, ok := r.cfg.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if runtime.GOOS != "windows" && len(env) == 0 {
		env = append(env, "LANG=C.UTF-8") // an empty list would mean joy's own environment
	}
	return env
}

// capped keeps at most maxValue bytes and ends the program that prints more. The buffer is not embedded: its ReadFrom would
// take everything.
type capped struct {
	kept bytes.Buffer
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	if c.kept.Len()+len(p) > maxValue {
		c.over = true
		return 0, errors.New("too much")
	}
	return c.kept.Write(p)
}
