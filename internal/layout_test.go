package internal

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// room is one package: its floor and everything inside joy that it may import.
type room struct {
	floor   int
	name    string
	imports string // separated by spaces; "*" is every room below
}

// house is the map of joy, from the roof down. A room may import only what is written further down: on a lower floor,
// or on its own floor where the list names it. A room whose name ends in "test" is for tests: nothing that is shipped
// imports it.
var house = []room{
	{6, "cmd/joy", "cli"},
	{6, "cmd/joy-guest", "guest"},

	{5, "cli", "*"}, // parse, wire, print

	{4, "config", "fault term ordinary"},                                                 // flags > JOY_* > the user's file; the only place that holds viper
	{4, "doctor", "sandbox/microvm sandbox/kata sandbox image queue state policy fault"}, // can this machine run agents

	{3, "build", "agent skill secret/rules plan schema policy digest ordinary fault"},                                                   // agent and skills to plan
	{3, "runner", "plan sandbox model broker record connection secret container artifact ledger schema policy guestproto digest fault"}, // the dispatch loop
	{3, "sandbox/e2b/e2btest", "sandbox/microvm sandbox image image/squashfs policy fault"},                                             // an E2B for tests
	{3, "sandbox/e2b", "sandbox sandbox/guestclient sandbox/e2b/client image guestproto fault"},                                         // a sandbox at E2B
	{3, "sandbox/kata", "sandbox sandbox/guestclient sandbox/scratch image guestproto policy fault"},                                    // a container that is a VM, through containerd
	{3, "sandbox/kata/katatest", "image thread"},                                                                                        // a containerd for tests
	{3, "sandbox/microvm", "sandbox sandbox/guestclient sandbox/scratch image guestproto policy digest ordinary thread fault"},          // a QEMU machine of joy's own
	{3, "replay", "connection ledger/account ledger/verify plan digest fault"},                                                          // a run answered from the record of another
	{3, "model/anthropic", "model"},                               // Anthropic's wire
	{3, "model/openai", "model"},                                  // OpenAI's, and of those who speak as it does
	{3, "sandbox/sim", "sandbox policy fault"},                    // nothing happens, symbolically
	{3, "sandbox/sandboxtest", "sandbox policy fault"},            // what every provider must pass
	{3, "sandbox/e2b/e2btest/envd", "guestproto"},                 // its daemon, in the machines it makes
	{3, "sandbox/guestclient", "sandbox guestproto policy fault"}, // the host's end of guestproto
	{3, "sandbox/e2b/client", ""},                                 // E2B's two protocols; knows nothing of joy
	{3, "sandbox/scratch", "fault"},                               // the disk that a VM's worlds write to
	{3, "image", "image/squashfs digest ordinary fault"},          // build, name and find images
	{3, "guest", "guestproto policy fault"},                       // init and exec inside the VM

	{2, "broker", "connection egress record secret artifact ledger plan schema policy guestproto digest fault"}, // decide, record, act

	{2, "record", "secret artifact ledger digest"},                 // what an entry holds of words and bodies
	{2, "operator", "signature plan policy digest ordinary fault"}, // what the machine's owner lets any plan do
	{2, "trust", "agent plan secret state digest ordinary fault"},  // what a user allowed a project to start, contact and be given
	{2, "model", "fault"},                             // the contract of a model provider
	{2, "model/modeltest", ""},                        // a model provider, for tests
	{2, "mcptest", "plan digest"},                     // a server of tools, for tests
	{2, "connection", "secret thread digest fault"},   // an outside service, kept at arm's length
	{2, "queue", "state policy fault"},                // who may have a VM now
	{2, "sandbox", "policy fault"},                    // the contract of a VM
	{2, "secret", "secret/rules policy digest fault"}, // names to values, late and for one origin; the scrubber
	{2, "state", "ordinary fault"},                    // .joy and the index of live runs

	{1, "ledger/export", "ledger/verify plan notekey digest fault term"}, // ledgers in the formats of other tools
	{1, "freeze", "ledger/verify plan fault"},                            // a script of what a model did
	{1, "ledger/page", "ledger/account ledger/verify plan term"},         // a run as one HTML file

	{1, "agent", "policy digest fault"},                                 // joy.yaml
	{1, "skill", "secret/rules container policy digest ordinary fault"}, // one bundle, with evidence
	{1, "signature", "plan notekey fault"},                              // who stands for a plan
	{1, "plan", "policy digest fault"},                                  // joy.lock
	{1, "egress", "policy fault"},                                       // the hosts a plan grants, and nothing else
	{1, "schema", "fault"},                                              // a value against a JSON Schema
	{1, "ledger", "notekey digest fault"},                               // append, recover, seal
	{1, "ledger/account", "ledger/verify"},                              // what ledgers tell of runs
	{1, "ledger/verify", ""},                                            // read and check; shares nothing with the writer
	{1, "artifact", "policy digest fault"},                              // what a step left in out/

	{0, "container", ""},              // files in files, within bounds
	{0, "secret/rules", ""},           // credentials that nobody told, by their shape
	{0, "guestproto", "policy fault"}, // the bytes between host and guest
	{0, "witness", "fault"},           // somebody outside who is told a head
	{0, "notekey", "fault"},           // the keys that joy signs with
	{0, "policy", "fault"},            // a request against grants
	{0, "digest", "ordinary fault"},   // content has a name
	{0, "ordinary", ""},               // what may be anything, opened as the file it must be
	{0, "git", ""},                    // a file of a past commit, without git
	{0, "worldtest", ""},              // our own bundles' scripts, in tests, without a VM
	{0, "nodetest", ""},               // the MCP servers and clients that tests talk to
	{0, "image/squashfs", ""},         // a root file system read without mounting it
	{0, "thread", ""},                 // rights given up for good, for a child
	{0, "term", ""},                   // what a stream can show
	{0, "fault", ""},                  // a failure a person can act on
}

const module = "github.com/joystream-ai/joy/"

// short turns an import path into a room's name; "" is not joy's.
func short(path string) string {
	rest, ok := strings.CutPrefix(path, module)
	if !ok {
		return ""
	}
	return strings.TrimPrefix(rest, "internal/")
}

func TestTable(t *testing.T) {
	for i, r := range house {
		for _, name := range strings.Fields(r.imports) {
			at := slices.IndexFunc(house, func(other room) bool { return other.name == name })
			require.True(t, name == "*" || at > i, "%s may import %s, which is not further down", r.name, name)
			require.True(t, name == "*" || house[at].floor <= r.floor, "%s is above %s", name, r.name)
		}
		require.True(t, i == 0 || r.floor <= house[i-1].floor, "%s stands above its floor", r.name)
	}
}

func TestLayout(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,GoFiles", module+"...")
	out, err := list.Output()
	require.NoError(t, err)
	seen := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
			GoFiles    []string
		}
		err := dec.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		name := short(pkg.ImportPath)
		if len(pkg.GoFiles) == 0 {
			continue // only tests live there
		}
		seen[name] = true
		at := slices.IndexFunc(house, func(r room) bool { return r.name == name })
		if at < 0 {
			t.Errorf("%s is not in the table: give it a floor", name)
			continue
		}
		allowed := strings.Fields(house[at].imports)
		for _, path := range pkg.Imports {
			to := short(path)
			if to == "" {
				continue
			}
			if strings.HasSuffix(to, "test") {
				t.Errorf("%s ships %s, which is for tests", name, to)
			}
			if !slices.Contains(allowed, to) && house[at].imports != "*" {
				t.Errorf("%s imports %s; the table lets it have: %s", name, to, house[at].imports)
			}
		}
	}
	for _, r := range house {
		if !seen[r.name] {
			t.Errorf("%s is in the table but not in the house", r.name)
		}
	}
}
