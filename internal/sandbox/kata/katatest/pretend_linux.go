package katatest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/pkg/cap"
	"github.com/stretchr/testify/require"
)

// The ways in which a handler with Kata's name comes to run runc.
const (
	ByLink   = "link"   // Kata's shim is a link to runc's
	ByScript = "script" // Kata's shim is a script, as its documentation makes one to name a configuration
)

// Pretend gives a directory for the PATH of a containerd whose io.containerd.kata.v2 is runc. Its runc takes a container
// that asks for more than who runs the tests may give.
func Pretend(t testing.TB, how string) string {
	t.Helper()
	dir := t.TempDir()
	shim, err := exec.LookPath("containerd-shim-runc-v2")
	require.NoError(t, err, "script/setup installs containerd")
	runc, err := exec.LookPath("runc")
	require.NoError(t, err, "script/setup installs runc")
	kata := filepath.Join(dir, "containerd-shim-kata-v2")
	if how == ByLink {
		require.NoError(t, os.Symlink(shim, kata))
	} else {
		script(t, kata, "KATA_CONF_FILE=/etc/kata-containers/configuration-fc.toml exec %s \"$@\"", shim)
	}
	script(t, filepath.Join(dir, "runc"), `bundle=
for word; do
	[ "$bundle" != next ] || bundle=$word
	[ "$word" != --bundle ] || bundle=next
done
[ -z "$bundle" ] || sed -i '%s' "$bundle/config.json"
exec %s "$@"`, lessen(t), runc)
	return dir
}

func script(t testing.TB, path, text string, args ...any) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+fmt.Sprintf(text, args...)+"\n"), 0o755))
}

// lessen is a program of sed's that takes out of a container's specification what this user has not.
func lessen(t testing.TB) string {
	t.Helper()
	have, err := cap.Current()
	require.NoError(t, err)
	commands := []string{`s/,"oomScoreAdj":-[0-9]*//`}
	for _, name := range cap.Known() {
		if !slices.Contains(have, name) {
			commands = append(commands, fmt.Sprintf(`s/"%s",//g`, name), fmt.Sprintf(`s/,"%s"//g`, name))
		}
	}
	return strings.Join(commands, ";")
}
