//go:build linux

package main

import (
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// getOut is a script that tries the ways out of a VM. It does not judge: it says what came of each.
//
//go:embed testdata/getout.py
var getOut string

// outAgent tries to get out in two steps of one VM: by all sorts of ways, and by the corpus of odd hosts. example.com
// and what is below are granted to the second, so that every slip of a parser would lead somewhere.
func outAgent(t *testing.T, out, odd []attempt) map[string]string {
	t.Helper()
	files := map[string]string{"joy.yaml": `version: 1
name: out
image: base
skills: ['skills/*']
policy:
  cpus: 1
  memory: 512MiB
  disk: 512MiB
  egress: [files.example.com, loopback.example.com, metadata.example.com, both.example.com, mapped.example.com, nat64.example.com,
    flip.example.com, "*.wild.example.net", example.com, "*.example.com"]
steps:
  - id: out
    skill: out
    egress: [files.example.com, loopback.example.com, metadata.example.com, both.example.com, mapped.example.com, nat64.example.com,
      flip.example.com, "*.wild.example.net"]
  - {id: odd, skill: odd, egress: [example.com, "*.example.com"]}
`}
	for name, list := range map[string][]attempt{"out": out, "odd": odd} {
		text, err := json.Marshal(list)
		require.NoError(t, err)
		files["skills/"+name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: Tries to get out.\nmetadata: {joy.entry: run.py}\n---\n"
		files["skills/"+name+"/run.py"] = getOut
		files["skills/"+name+"/attempts.json"] = string(text)
	}
	return files
}

// outReport is what the script wrote.
type outReport struct {
	Door    map[string]string `json:"door"` // the first line of the answer; "cut" or "open" for a tunnel
	Past    map[string]string `json:"past"`
	Ports   []int             `json:"ports"`
	Devices []string          `json:"devices"`
	Routes  []string          `json:"routes"`
}

// TestGettingOut runs a script that tries to reach anything but what it is granted. Everything is refused, what could be
// seen by the broker is on record, and not one connection is made that should not be.
func TestGettingOut(t *testing.T) {
	needImage(t, "base")
	out, odd := attempts(), oddHosts(t)
	requests := make(chan string, 100)
	o := newOutside(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.Host }),
		"files.example.com", "flip.example.com", "example.com", "wild.example.net", "evil.com")
	for host, answers := range rebinding {
		o.names[host] = answers
	}
	b := newBench(t, outAgent(t, out, odd))
	b.allow()
	code, stdout, stderr := b.runOutside(t.Context(), o, "run")
	require.Zero(t, code, "%s\n%s", stderr, stdout)
	entries := b.ledger()
	asked, dialed := o.seen()

	t.Run("at the door", func(t *testing.T) {
		report, want := b.outReport(entries, "out"), map[string]int{}
		tunnels, looked := 0, 0
		for _, a := range out {
			answer := report.Door[a.Name]
			switch a.end {
			case refused:
				require.Regexp(t, `^HTTP/1\.1 4\d\d `, answer, a.Name)
			default:
				tunnels++
				require.Equal(t, a.end, answer, a.Name)
			}
			for _, why := range a.why {
				want[why]++
			}
			looked += a.looked
		}
		require.Equal(t, want, reasons(entries, "out"))
		require.Len(t, asked, looked, "a name is looked up once, and only when it is granted: %v", asked)
		require.Len(t, dialed, tunnels)
		for _, to := range dialed {
			require.Equal(t, there, to.Addr())
		}
		require.Len(t, only(entries, "egress.allowed"), tunnels)
		require.Len(t, only(entries, "egress.closed"), tunnels)
		require.Empty(t, requests, "a request reached a server")
	})
	t.Run("past the door", func(t *testing.T) {
		report := b.outReport(entries, "out")
		require.Greater(t, len(report.Past), 50)
		for name, answer := range report.Past {
			require.Contains(t, answer, "refused: ", name)
		}
		require.Equal(t, []int{569}, report.Ports, "something else listens")
		require.Equal(t, []string{"lo"}, report.Devices)
		require.Empty(t, report.Routes)
	})
	t.Run("odd hosts", func(t *testing.T) {
		report := b.outReport(entries, "odd")
		require.GreaterOrEqual(t, len(odd), 200)
		for _, a := range odd {
			require.Regexp(t, `^HTTP/1\.1 4\d\d `, report.Door[a.Name], a.Name)
		}
		count := 0
		for _, n := range reasons(entries, "odd") {
			count += n
		}
		require.Equal(t, len(odd), count, "each is on record: %v", reasons(entries, "odd"))
	})
}

func (b *bench) outReport(entries []entry, step string) (r outReport) {
	b.t.Helper()
	require.NoError(b.t, json.Unmarshal([]byte(b.artifact(entries, step, "report.json")), &r))
	return r
}

// artifact is what a step left in out/.
func (b *bench) artifact(entries []entry, step, name string) string {
	b.t.Helper()
	stored := only(entries, "artifact.stored")
	i := slices.IndexFunc(stored, func(e entry) bool { return e.Step == step && e.Data["name"] == name })
	require.GreaterOrEqual(b.t, i, 0, "%s has no %s", step, name)
	sum, _ := strings.CutPrefix(stored[i].Data["sha256"].(string), "sha256:")
	f, err := os.Open(filepath.Join(b.dir, ".joy/objects/sha256", sum[:2], sum))
	require.NoError(b.t, err)
	defer f.Close()
	body, err := io.ReadAll(f)
	require.NoError(b.t, err)
	return string(body)
}
