//go:build linux

package examples_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/nodetest"
	"github.com/joystream-ai/joy/internal/plan"
)

// agent is a copy of an example that joy works on, with a home of its own and the tester's images.
type agent struct {
	t        *testing.T
	joy, dir string
	env      []string
}

// newAgent copies an example that runs on the image of a profile.
func newAgent(t *testing.T, joy, example, profile string) *agent {
	t.Helper()
	cache, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(t, err)
	_, err = image.Latest(cache, profile)
	require.NoError(t, err, "run script/test, or joy image build --profile %s", profile)
	a := &agent{t: t, joy: joy, dir: filepath.Join(t.TempDir(), example)}
	require.NoError(t, os.CopyFS(a.dir, os.DirFS(example)))
	for _, left := range []string{".joy", "node_modules"} { // by hand, in the checkout
		require.NoError(t, os.RemoveAll(filepath.Join(a.dir, left)))
	}
	home := t.TempDir()
	a.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + filepath.Dir(cache), "XDG_RUNTIME_DIR=" + home,
		"JOY_ACCEL=" + os.Getenv("JOY_ACCEL"),
	}
	return a
}

// built is the joy of all tests of this process, in a directory that goes with it.
var built struct{ dir, joy string }

func TestMain(m *testing.M) {
	m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
}

// buildJoy builds the joy that the examples are run with, once.
func buildJoy(t *testing.T) string {
	t.Helper()
	if built.joy != "" {
		return built.joy
	}
	var err error
	built.dir, err = os.MkdirTemp("", "joy-examples-") //nolint:usetesting // it outlives the test
	require.NoError(t, err)
	joy := filepath.Join(built.dir, "joy")
	said, err := exec.CommandContext(t.Context(), "go", "build", "-o", joy, "../cmd/joy").CombinedOutput()
	require.NoError(t, err, "%s", said)
	built.joy = joy
	return joy
}

// try runs a command of joy in the agent's directory.
func (a *agent) try(args ...string) (code int, stdout, stderr string) {
	a.t.Helper()
	var out, words bytes.Buffer
	cmd := exec.CommandContext(a.t.Context(), a.joy, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.dir, a.env, &out, &words
	err := cmd.Run()
	require.NotNil(a.t, cmd.ProcessState, "%v", err)
	return cmd.ProcessState.ExitCode(), out.String(), words.String()
}

// run is try of a command that has to go well, and returns its stdout.
func (a *agent) run(args ...string) string {
	a.t.Helper()
	code, stdout, stderr := a.try(args...)
	require.Zero(a.t, code, "joy %s: %s", strings.Join(args, " "), stderr)
	return stdout
}

func (a *agent) file(name string) string {
	a.t.Helper()
	body, err := os.ReadFile(filepath.Join(a.dir, name))
	require.NoError(a.t, err)
	return string(body)
}

func (a *agent) write(name, content string) {
	a.t.Helper()
	require.NoError(a.t, os.WriteFile(filepath.Join(a.dir, name), []byte(content), 0o600))
}

var npx = regexp.MustCompile(`\[npx, -y, "@modelcontextprotocol/server-([a-z]+)@([0-9.]+)", ([a-z-]+)\]`)

// installed has the agent's connections start the servers that script/node installed: the same versions, started by
// another Node and without npx, which would look for them in the network. It holds that they are the same, and allows
// them as a user would.
func (a *agent) installed() {
	a.t.Helper()
	spec := npx.ReplaceAllStringFunc(a.file("joy.yaml"), func(command string) string {
		m := npx.FindStringSubmatch(command)
		var manifest struct{ Version string }
		read(a.t, filepath.Join(nodetest.Modules(a.t), "@modelcontextprotocol", "server-"+m[1], "package.json"), &manifest)
		require.Equal(a.t, manifest.Version, m[2], "script/node installs another version of server-%s", m[1])
		argv, err := json.Marshal([]string{
			nodetest.Node(a.t), filepath.Join(nodetest.Modules(a.t), "@modelcontextprotocol", "server-"+m[1], "dist", "index.js"), m[3],
		})
		require.NoError(a.t, err)
		return string(argv)
	})
	require.NotContains(a.t, spec, "npx, ")
	a.write("joy.yaml", spec)
	code, _, words := a.try("trust")
	require.Equal(a.t, 4, code, words)
	allowed := regexp.MustCompile(`JOY_TRUST=sha256:[0-9a-f]{64}`).FindString(words)
	require.NotEmpty(a.t, allowed, words)
	a.env = append(a.env, allowed)
}

// samePins holds that the lock of the checkout, which was made with npx, pins what the installed servers offer.
func (a *agent) samePins(committed string) {
	a.t.Helper()
	want, err := plan.Decode([]byte(committed), "joy.lock")
	require.NoError(a.t, err)
	got, err := plan.Decode([]byte(a.file("joy.lock")), "joy.lock")
	require.NoError(a.t, err)
	require.NotEmpty(a.t, want.Connections)
	for name, c := range want.Connections {
		require.Equal(a.t, c.Tools, got.Connections[name].Tools, "connection %s", name)
		require.Equal(a.t, c.Server, got.Connections[name].Server, "connection %s", name)
	}
}

// fresh holds that the committed lock is what a build would write, and of no machine in particular. It returns it.
func (a *agent) fresh() string {
	a.t.Helper()
	require.Contains(a.t, a.run("build", "--check"), "is what a build would write")
	lock := a.file("joy.lock")
	require.NotContains(a.t, lock, `"amd64": "sha256`, "the committed lock pins the image of one machine")
	return lock
}

// outcome is what result.json of the only run says.
type outcome struct {
	Outcome string
	Steps   map[string]struct {
		Output    any
		Artifacts []struct {
			Name   string
			SHA256 string
		}
	}
}

func (a *agent) outcome() (got outcome) {
	a.t.Helper()
	results, err := filepath.Glob(filepath.Join(a.dir, ".joy/runs/*/result.json"))
	require.NoError(a.t, err)
	require.Len(a.t, results, 1)
	read(a.t, results[0], &got)
	require.Equal(a.t, "succeeded", got.Outcome)
	return got
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, into), path)
}

// The versions that an example's npm ci installs are those that its joy.yaml starts.
func TestExamplesInstallWhatTheyStart(t *testing.T) {
	for _, example := range []string{"day-sheet", "weekly-report"} {
		spec, err := os.ReadFile(filepath.Join(example, "joy.yaml"))
		require.NoError(t, err)
		starts := map[string]string{}
		for _, m := range npx.FindAllStringSubmatch(string(spec), -1) {
			starts["@modelcontextprotocol/server-"+m[1]] = m[2]
		}
		require.NotEmpty(t, starts)
		var manifest struct{ Dependencies map[string]string }
		read(t, filepath.Join(example, "package.json"), &manifest)
		require.Equal(t, starts, manifest.Dependencies, example)
		var lock, tests struct {
			Packages map[string]struct{ Version, Integrity string }
		}
		read(t, filepath.Join(example, "package-lock.json"), &lock)
		read(t, "../script/node/package-lock.json", &tests)
		require.Greater(t, len(lock.Packages), 20)
		delete(lock.Packages, "")
		for name, pin := range lock.Packages {
			require.NotEmpty(t, pin.Integrity, name)
			require.Equal(t, tests.Packages[name], pin, "%s: %s is not what the tests run", example, name)
		}
	}
}

// lineOf is the number of the first line of text that holds every one of words.
func lineOf(t *testing.T, text string, words ...string) int {
	t.Helper()
lines:
	for i, line := range strings.Split(text, "\n") {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue lines
			}
		}
		return i
	}
	require.Fail(t, "no line", "with %s in\n%s", fmt.Sprint(words), text)
	return -1
}
