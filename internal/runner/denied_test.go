package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// post makes a call at the step's door, as joy-guest does, and gives the answer.
func (s *scene) post(action, args string) string {
	body := fmt.Sprintf(`{"action":%q,"arguments":%s}`, action, args)
	return s.send(fmt.Sprintf("POST /v1/call HTTP/1.1\r\nHost: joy\r\nConnection: close\r\nContent-Length: %d\r\nAuthorization: Bearer %s\r\n\r\n%s", len(body), s.token(), body))
}

// telling is a script step that may call crm.put, with what its grant fixes.
func telling(id string) plan.Step {
	s := script(id)
	s.Approve = "granted"
	s.Tools = []plan.Grant{{Action: "crm.put", With: json.RawMessage(`{"n":1}`)}}
	return s
}

// The script's own word for success is not enough after a denied call.
func TestADeniedCallFailsItsStep(t *testing.T) {
	for name, tc := range map[string]struct {
		action, args string
		exit         int
		kind         fault.Kind // "": the step succeeds
		want         []string
	}{
		"granted":               {"crm.put", `{"body":1}`, 0, "", nil},
		"its arguments are odd": {"crm.put", `{}`, 0, "", nil},
		"not granted":           {"crm.look", `{}`, 0, fault.Policy, []string{"crm.look was denied", "the plan does not grant it to this step"}},
		"fixed":                 {"crm.put", `{"body":1,"n":2}`, 0, fault.Policy, []string{"crm.put was denied", `"n"`}},
		"and the script failed": {"crm.look", `{}`, 3, fault.Policy, []string{"crm.look was denied", "then the script exited with status 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, server := crm(t, says(`{"content":[]}`), telling("tell"), script("after", "tell"))
			var answer string
			r.on("tell", func(s *scene) (sandbox.Result, error) {
				answer = s.post(tc.action, tc.args)
				s.print(`{"said":"done"}`)
				s.keep("a.txt", "kept")
				return sandbox.Result{ExitCode: tc.exit}, nil
			})
			out := r.finished(t)
			require.Len(t, out.step("tell").Artifacts, 1, "what it made is kept")
			if tc.kind == "" {
				require.Nil(t, out.Failure, answer)
				return
			}
			require.Equal(t, Failed, out.Status)
			require.Equal(t, tc.kind, out.Failure.Kind)
			for _, want := range tc.want {
				require.ErrorContains(t, out.Failure.Err, want)
			}
			require.Contains(t, answer, " 403 ")
			require.Equal(t, Skipped, out.step("after").Status)
			require.Equal(t, 1, r.count("tool.denied"))
			require.Empty(t, server.Calls())
		})
	}
}

// A step that goes on asking is ended by its door.
func TestAClosedDoorEndsTheStep(t *testing.T) {
	r, _ := crm(t, says(`{}`), telling("tell"))
	r.on("tell", func(s *scene) (sandbox.Result, error) {
		for s.ctx.Err() == nil {
			s.request("GET /v1/run HTTP/1.1\r\nAuthorization: Bearer x")
		}
		return sandbox.Result{}, s.ctx.Err()
	})
	out := r.finished(t)
	require.Equal(t, fault.Policy, out.Failure.Kind)
	require.ErrorContains(t, out.Failure.Err, "door is closed: 1000 requests were refused")
	require.Contains(t, r.one(t, "command.finished").String("ended_by"), "door is closed")
}

// A connection's credential that comes out of the VM ends the run, whatever else runs, and nothing keeps it.
func TestACredentialEndsTheRun(t *testing.T) {
	for name, leak := range map[string]func(s *scene){
		"in a call":   func(s *scene) { s.post("crm.put", `{"body":"`+canary+`"}`) },
		"printed":     func(s *scene) { s.print(`{"x":"` + canary + `"}`) },
		"in a file":   func(s *scene) { s.keep("b.bin", "\x00"+canary); s.print("{}") },
		"in a text":   func(s *scene) { s.keep("a.txt", canary); s.print("{}") },
		"in no JSON":  func(s *scene) { s.print("key " + canary) },
		"as a script": func(s *scene) { s.print("\n" + strings.Repeat(canary, 3) + "\n{}") },
	} {
		t.Run(name, func(t *testing.T) {
			r, server := crm(t, says(`{}`), telling("tell"), script("beside"), script("after", "tell"))
			begun := make(chan struct{})
			r.on("beside", func(s *scene) (sandbox.Result, error) {
				close(begun)
				<-s.ctx.Done()
				return sandbox.Result{}, s.ctx.Err()
			})
			r.on("tell", func(s *scene) (sandbox.Result, error) {
				<-begun
				leak(s)
				return sandbox.Result{}, nil
			})
			out := r.finished(t)
			require.Equal(t, Failed, out.Status)
			require.Equal(t, fault.Policy, out.Failure.Kind)
			require.ErrorContains(t, out.Failure.Err, "credential is outside the broker")
			require.Equal(t, Failed, out.step("beside").Status)
			require.Equal(t, Skipped, out.step("after").Status)
			require.Empty(t, server.Calls())
		})
	}
}
