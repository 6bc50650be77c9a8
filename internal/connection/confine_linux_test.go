package connection

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/nodetest"
)

// probe tries what it is told, one to a line, and says of each on stderr whether it went.
const probe = `cat >/dev/null & while read -r name command; do
	if sh -c "$command" >/dev/null 2>&1; then echo "$name yes"; else echo "$name no"; fi
done <"$0.list" >&2; exit 1`

// attempts are what a confined server may do (yes), and what it may not.
func attempts(dir, secret string) map[string]string {
	return map[string]string{
		"yes own-file":      "cat " + dir + "/bin/probe",
		"yes beside-it":     "cat " + dir + "/bin/probe.list",
		"yes installed":     "cat " + dir + "/node_modules/m/index.js",
		"yes home":          `echo x >"$HOME/x" && mkdir "$HOME/d" && mv "$HOME/x" "$HOME/d/x" && cat "$HOME/d/x"`,
		"yes system":        "ls /usr/bin && cat /etc/hosts",
		"yes null":          "echo x >/dev/null && head -c 1 /dev/urandom",
		"yes own-proc":      "cat /proc/self/status",
		"no change-own":     "echo x >>" + dir + "/bin/probe",
		"no project-file":   "cat " + dir + "/joy.yaml",
		"no project-list":   "ls " + dir,
		"no change-modules": "echo x >>" + dir + "/node_modules/m/index.js",
		"no linked-file":    "cat " + dir + "/package.json",
		"no project-write":  "touch " + dir + "/new",
		"no users-file":     "cat " + secret,
		"no through-proc":   "cat /proc/self/root" + secret,
		"no shadow":         "cat /etc/shadow",
		"no root":           "ls /",
		"no tmp":            "ls /tmp",
		"no joys-environ":   "cat /proc/$PPID/../" + pid() + "/environ",
		"no joys-files":     "readlink /proc/" + pid() + "/fd/1",
		"no signal-to-joy":  "kill -0 " + pid(),
		"no mount":          "mount -t tmpfs x $HOME",
		"no other-user":     "setpriv --reuid=1 true",
		"no joys-socket":    "cat /proc/" + pid() + "/cwd/connection_test.go",
		"no device":         "cat /dev/mem",
		"no delete-project": "rm -f " + dir + "/joy.yaml && test ! -e " + dir + "/joy.yaml",
	}
}

func pid() string { return strings.TrimPrefix(filepath.Base(mustReal("/proc/self")), "/") }

func mustReal(p string) string {
	real, _ := filepath.EvalSymlinks(p)
	return real
}

func TestConfined(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	dir, elsewhere := t.TempDir(), t.TempDir()
	secret := filepath.Join(elsewhere, "id_ed25519")
	require.NoError(t, os.WriteFile(secret, []byte("key"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "joy.yaml"), []byte("x"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "node_modules", "m"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node_modules", "m", "index.js"), []byte("x"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "package.json")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	script := filepath.Join(dir, "bin", "probe")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"+probe+"\n"), 0o700))
	want, list := map[string]string{}, ""
	for name, command := range attempts(dir, secret) {
		answer, name, _ := strings.Cut(name, " ")
		want[name] = answer
		list += name + " " + command + "\n"
	}
	require.NoError(t, os.WriteFile(script+".list", []byte(list), 0o600))

	c := dial(t, Config{Name: "crm", Argv: []string{"./bin/probe"}, Dir: dir})
	_, _, err := c.Tools(t.Context())
	require.ErrorContains(t, err, "last words")
	said := map[string]string{}
	_, words, _ := strings.Cut(err.Error(), "its last words: ")
	for line := range strings.Lines(words) {
		name, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[name] = answer
	}
	require.Equal(t, want, said)
}

// The real servers work as they are, confined.
func TestRealServers(t *testing.T) {
	for name, argv := range map[string][]string{"everything": nodetest.Everything(t), "filesystem": nodetest.Filesystem(t, "/usr/share")} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, Config{Name: name, Argv: argv, Dir: t.TempDir()})
			tools, _, err := c.Tools(t.Context())
			require.NoError(t, err)
			require.Greater(t, len(tools), 9)
		})
	}
	c := dial(t, Config{Name: "all", Argv: nodetest.Everything(t), Dir: t.TempDir()})
	res, err := c.Call(t.Context(), "echo", json.RawMessage(`{"message":"\u001b[31mred"}`), false)
	require.NoError(t, err)
	require.Contains(t, string(res.Raw), "red")
	_, err = c.Call(t.Context(), "no-such-tool", nil, false)
	require.NotErrorIs(t, err, ErrUnknown)
}
