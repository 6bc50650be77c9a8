//go:build linux

package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// trustTheTest makes the programs of a script trust the test's authority, each in its own way. The proxy they find by
// themselves.
const trustTheTest = `#!/bin/sh
set -eu
ca=$JOY_SKILL_DIR/ca.pem
export SSL_CERT_FILE="$ca" GIT_SSL_CAINFO="$ca" PIP_CERT="$ca" NODE_EXTRA_CA_CERTS="$ca"
`

// programs are scripts that reach what they are granted with a program that knows nothing of joy. Each writes what it
// got to out/got.
var programs = map[string]struct {
	host, script string
}{
	"curl": {"files.example.com", `curl -sS https://files.example.com/hello > out/got
test "$(head -c 3000000 /dev/zero | curl -sS -T - https://files.example.com/up)" = "PUT 3000000"
`},
	"git": {"git.example.com", `git clone -q https://git.example.com/greet.git /tmp/greet
cp /tmp/greet/greeting out/got
`},
	"pip": {"pypi.example.com", `python3 -m pip install -q --disable-pip-version-check --no-cache-dir --target /tmp/py \
	--index-url https://pypi.example.com/simple greet >&2
PYTHONPATH=/tmp/py python3 -c 'import greet; print(greet.text)' > out/got
`},
	"npm": {"registry.example.com", `mkdir /tmp/js && cd /tmp/js
npm install --silent --no-audit --no-fund --registry https://registry.example.com greet >&2
node -p 'require("greet")' > /workspace/out/got
`},
	"node": {"files.example.com", `node -e 'fetch("https://files.example.com/hello").then(r => r.text()).then(t => process.stdout.write(t))' > out/got
`},
}

func script(o *outside, files map[string]string, name, text string) {
	dir := "skills/" + name + "/"
	files[dir+"SKILL.md"] = "---\nname: " + name + "\ndescription: Reaches out.\nmetadata: {joy.entry: run.sh}\n---\n"
	files[dir+"run.sh"] = trustTheTest + text + "echo '{}'\n"
	files[dir+"ca.pem"] = o.ca
}

// TestPrograms has programs as they are installed go through the broker's proxy, by the environment that every step has.
func TestPrograms(t *testing.T) {
	needImage(t, "full")
	o := newOutside(t, origins(t), "files.example.com", "git.example.com", "pypi.example.com", "registry.example.com")
	files := map[string]string{"joy.yaml": "version: 1\nname: programs\nimage: full\nskills: ['skills/*']\n" +
		"policy: {cpus: 2, memory: 1GiB, disk: 1GiB, egress: [files.example.com, git.example.com, pypi.example.com, registry.example.com]}\nsteps:\n"}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		files["joy.yaml"] += "  - {id: " + name + ", skill: " + name + ", egress: [" + programs[name].host + "]}\n"
		script(o, files, name, programs[name].script)
	}
	b := newBench(t, files)
	b.allow()
	code, stdout, stderr := b.runOutside(t.Context(), o, "run")
	require.Zero(t, code, "%s\n%s", stderr, stdout)
	entries := b.ledger()
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			denied := map[string]int{}
			if name == "git" {
				denied[noToken] = 1 // it asks how to sign in before it does
			}
			require.Equal(t, denied, reasons(entries, name))
			require.Equal(t, greeting, strings.TrimSpace(b.artifact(entries, name, "got")))
			down := 0.0
			for _, e := range only(entries, "egress.closed") {
				if e.Step == name {
					require.Equal(t, p.host, e.Data["host"])
					require.Equal(t, there.String(), e.Data["address"])
					down += e.Data["down"].(float64)
				}
			}
			require.Greater(t, down, float64(len(greeting)))
		})
	}
}

// aroundScript tries to do without the proxy, or with less than the proxy asks for.
const aroundScript = `fails() { if "$@" > /tmp/said 2>&1; then echo "open: $*"; exit 1; fi; echo "$*: $(tail -n 1 /tmp/said)" >> out/said; }
curl -sS https://files.example.com/hello > out/got
fails env -u HTTPS_PROXY -u https_proxy curl -sS -m 30 https://files.example.com/hello
fails curl -sS -m 30 --noproxy '*' https://files.example.com/hello
fails curl -sS -m 30 --noproxy '*' --resolve files.example.com:443:93.184.216.34 https://files.example.com/hello
fails curl -sSf -m 30 http://files.example.com/hello
fails curl -sS -m 30 https://other.example.com/
fails curl -sS -m 30 -k --connect-to files.example.com:443:other.example.com:443 https://files.example.com/hello
fails curl -sS -m 30 -x http://127.0.0.1:569 https://files.example.com/hello
fails curl -sS -m 30 -x socks5h://127.0.0.1:569 https://files.example.com/hello
curl -sS http://127.0.0.1:569/v1/run -H "Authorization: Bearer $JOY_RUN_TOKEN" > out/run.json
env | sed -n 's/^\([A-Za-z_]*PROXY\|[a-z_]*proxy\)=.*/\1/p' | sort > out/names
`

// setupScript is the frozen setup's: it has a grant of its own, and what it fetches is there for the steps, which have
// none.
const setupScript = `#!/bin/sh
set -eu
cat > /etc/test-ca.pem <<'END'
CERTIFICATEEND
export SSL_CERT_FILE=/etc/test-ca.pem
curl -sS https://setup.example.com/hello > /opt/greeting
if curl -sS https://files.example.com/hello; then exit 1; fi
`

// TestAroundTheProxy is what fails without the proxy, and who has it: setup by its own list, a step by its own, and a
// step without a grant not at all.
func TestAroundTheProxy(t *testing.T) {
	needImage(t, "base")
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Host + "\n")) })
	o := newOutside(t, mux, "files.example.com", "setup.example.com")
	files := map[string]string{
		"joy.yaml": "version: 1\nname: around\nimage: base\nskills: ['skills/*']\nsetup: {run: setup.sh, egress: [setup.example.com]}\n" +
			"policy: {cpus: 1, memory: 512MiB, disk: 512MiB, egress: [files.example.com, setup.example.com]}\nsteps:\n" +
			"  - {id: around, skill: around, egress: [files.example.com]}\n  - {id: offline, skill: offline, egress: []}\n",
		"setup.sh": strings.Replace(setupScript, "CERTIFICATE", o.ca, 1),
	}
	script(o, files, "around", aroundScript)
	script(o, files, "offline", `cp /opt/greeting out/greeting
env | grep -i proxy > out/names || true
if curl -sS -m 30 -x "http://joy:$JOY_RUN_TOKEN@127.0.0.1:569" https://files.example.com/hello; then exit 1; fi
`)
	b := newBench(t, files)
	b.allow()
	code, stdout, stderr := b.runOutside(t.Context(), o, "run")
	require.Zero(t, code, "%s\n%s", stderr, stdout)
	entries := b.ledger()

	require.Equal(t, "files.example.com\n", b.artifact(entries, "around", "got"))
	require.Equal(t, "setup.example.com\n", b.artifact(entries, "offline", "greeting"))
	require.Equal(t, 8, strings.Count(b.artifact(entries, "around", "said"), "\n"))
	require.Contains(t, b.artifact(entries, "around", "run.json"), `"step":"around"`, "NO_PROXY keeps the door itself out of the proxy")
	require.Equal(t, map[string]int{notGranted: 2, plainHTTP: 1, noToken: 1, noRequest: 1}, reasons(entries, "around"))
	require.Equal(t, map[string]int{notGranted: 1}, reasons(entries, "setup"))
	require.Equal(t, map[string]int{notGranted: 1}, reasons(entries, "offline"))
	require.Equal(t, "HTTPS_PROXY\nHTTP_PROXY\nNODE_USE_ENV_PROXY\nNO_PROXY\nhttp_proxy\nhttps_proxy\nno_proxy\n", b.artifact(entries, "around", "names"))
	require.Empty(t, b.artifact(entries, "offline", "names"))
	_, dialed := o.seen()
	require.Len(t, dialed, 2)
}
