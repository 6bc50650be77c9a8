package runner

import (
	"encoding/json"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/mcptest"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/model/anthropic"
	"github.com/joystream-ai/joy/internal/model/modeltest"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/secret"
)

// told is a value that joy was told of, as an input that is marked.
const told = "canary-told-31f4-of-the-user"

// talking is a run of one model step; vm says whether it has the VM.
func talking(t *testing.T, vm bool, say func(n int, r modeltest.Request) modeltest.Reply) (*rig, *modeltest.Server) {
	t.Helper()
	r := newRig(t, plan.Step{
		ID: "ask", Kind: plan.Prompt, Skill: "ask", With: json.RawMessage(`{"x": "${{ inputs.x }}"}`), Timeout: policy.Duration(time.Minute),
		Sandbox: plan.Sandbox{Required: vm},
	})
	r.Plan.Skills[0].Files = []plan.File{{Path: "SKILL.md", Mode: "0644", Size: int64(len(mainFile))}}
	r.Input = json.RawMessage(`{"x": "y"}`)
	require.NoError(t, r.Secrets.Add("input-pin", []byte(told)))
	s := modeltest.Anthropic(t, say)
	r.before = runtime.NumGoroutine() // the server's among them
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	wire := model.Wire{Base: base, Authorize: func(q *http.Request) error {
		q.Header.Set("X-Api-Key", modeltest.Key)
		q.Close = true
		return nil
	}}
	r.Model = Prompting{Model: anthropic.New("m", s.URL, wire), Provider: "anthropic", Name: "m", MaxTurns: 5, MaxTokens: 100_000}
	return r, s
}

// requireUntold holds that no request had a value in it, whole or in part.
func requireUntold(t *testing.T, s *modeltest.Server, values ...string) {
	t.Helper()
	require.NotEmpty(t, s.Requests())
	for _, r := range s.Requests() {
		for _, v := range values {
			require.NotContains(t, string(r.Body), v)
			require.NotContains(t, string(r.Body), v[:len(v)/2])
			require.NotContains(t, string(r.Body), v[len(v)/2:])
		}
	}
}

// What a model says goes to later steps, into result.json and onto the record without a secret in it.
func TestWhatAModelSaysIsScrubbed(t *testing.T) {
	for name, reply := range map[string]string{"text": "it is " + told + " and " + shaped, "a known one": told, "a shape": "t=" + shaped} {
		t.Run(name, func(t *testing.T) {
			r, _ := talking(t, false, modeltest.Script(modeltest.Reply{Text: reply}))
			out := r.finished(t)
			require.Equal(t, Succeeded, out.Status, "%v", out.Failure)
			said, err := json.Marshal(out.step("ask").Output)
			require.NoError(t, err)
			require.Contains(t, string(said), "[REDACTED:")
			require.NotContains(t, string(said), told)
			require.NotContains(t, string(said), shaped)
			r.requireNowhere(t, told)
			r.requireNowhere(t, shaped)
		})
	}
}

// A long input is shown in part, and what is cut has no half of a secret at its ends.
func TestAModelIsToldNoHalves(t *testing.T) {
	for _, value := range []string{told, shaped} {
		r, s := talking(t, false, modeltest.Script(modeltest.Reply{Text: "done"}))
		before := 2*maxInline - len(`{"x":"`) - len(value)/2
		long, err := json.Marshal(map[string]string{"x": strings.Repeat("-", before) + value + strings.Repeat("-", 6*maxInline)})
		require.NoError(t, err)
		r.Input = long
		out := r.finished(t)
		require.Equal(t, Succeeded, out.Status, "%v", out.Failure)
		requireUntold(t, s, value)
	}
}

// A file is read in parts of the model's own choice; a secret that lies over the end of one is in neither.
func TestAFileReadInParts(t *testing.T) {
	for _, value := range []string{told, shaped} {
		file := strings.Repeat("-", maxShown-len(value)/2) + value + strings.Repeat("-", 100)
		offsets := []int{0, maxShown, maxShown - 5, maxShown - len(value)/2 + 1, len(file) - 1, len(file) + 10}
		r, s := talking(t, true, func(n int, _ modeltest.Request) modeltest.Reply {
			if n >= len(offsets) {
				return modeltest.Reply{Text: "done"}
			}
			return modeltest.Reply{Calls: []modeltest.Call{{Name: "read_file", Input: `{"path":"a.txt","offset":` + strconv.Itoa(offsets[n]) + `}`}}}
		})
		r.Model.MaxTurns = len(offsets) + 1
		r.on("ask", func(s *scene) (sandbox.Result, error) { // tail -c +N | head -c M
			from, err := strconv.Atoi(s.argv[5])
			require.NoError(t, err)
			most, err := strconv.Atoi(s.argv[6])
			require.NoError(t, err)
			rest := file[min(from-1, len(file)):]
			s.print(rest[:min(most, len(rest))])
			return sandbox.Result{}, nil
		})
		out := r.finished(t)
		require.Equal(t, Succeeded, out.Status, "%v", out.Failure)
		requireUntold(t, s, value)
		require.NotZero(t, r.count("scrub.found"))
		require.Contains(t, string(s.Requests()[1].Body), "[more from offset "+strconv.Itoa(maxShown)+"]")
		r.requireNowhere(t, value)
	}
}

// A secret that ends a run is not in the words that say so.
func TestTheEndOfARunIsScrubbed(t *testing.T) {
	r := newRig(t, script("a"))
	require.NoError(t, r.Secrets.Add("input-pin", []byte(told)))
	r.on("a", func(s *scene) (sandbox.Result, error) {
		s.print("no JSON: " + told + " " + shaped + "\n")
		return sandbox.Result{}, nil
	})
	out := r.finished(t)
	require.Equal(t, Failed, out.Status)
	require.NotContains(t, out.Failure.Err.Error(), told)
	require.NotContains(t, out.Failure.Err.Error(), shaped)
}

// A model that says a connection's credential has it from where none may be: nothing of its answer is done, it is not told of it
// again, and the run ends.
func TestACredentialIsToldToNoModel(t *testing.T) {
	r, s := talking(t, true, modeltest.Script(modeltest.Reply{
		Text: "the key is " + canary, Calls: []modeltest.Call{{Name: "read_file", Input: `{"path":"a.txt"}`}},
	}))
	server := mcptest.New(t, canary, `{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`)
	r.Plan.Connections = map[string]plan.Connection{"crm": server.Pin(t)}
	r.links = []connection.Config{{Name: "crm", URL: server.URL, Bearer: secret.NewValue([]byte(canary))}}
	require.NoError(t, r.Secrets.Add("crm-key", []byte(canary)))
	r.before = runtime.NumGoroutine()
	out := r.finished(t)
	require.Equal(t, Failed, out.Status)
	require.Equal(t, fault.Policy, out.Failure.Kind)
	require.ErrorContains(t, out.Failure.Err, "the secret crm-key is in what the model answered step ask")
	require.Zero(t, r.count("file.read"))
	require.Len(t, s.Requests(), 1)
	r.requireNowhere(t, canary)
}
