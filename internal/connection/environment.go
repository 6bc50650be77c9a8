package connection

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// systemPath is the PATH of a server: where a system keeps its programs, and nothing of the user's.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func searchPath(cfg Config) string {
	if cfg.Path != "" {
		return cfg.Path
	}
	return systemPath
}

// environment is all that a server gets: nothing of joy's own. This is the one place where a credential leaves a
// secret.Value for a child, and it goes by way of the environment and never of the arguments.
func environment(cfg Config, home string) []string {
	env := []string{"PATH=" + searchPath(cfg), "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8"}
	for name, value := range cfg.Env {
		env = append(env, name+"="+string(value.Bytes()))
	}
	slices.Sort(env)
	return env
}

// find is the program's absolute path.
func find(name, dir, path string) (string, error) {
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = []string{filepath.Join(dir, name)}
		if !strings.Contains(name, "/") {
			candidates = nil
			for _, d := range filepath.SplitList(path) {
				candidates = append(candidates, filepath.Join(d, name))
			}
		}
	}
	for _, c := range candidates {
		if info, err := os.Stat(c); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.Abs(c)
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}
