package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/mcptest"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/secret"
)

const canary = "canary-4f1a0c7b22d9"

// act is a step that calls a tool of the connection crm.
func act(id, tool, with string, needs ...string) plan.Step {
	return plan.Step{
		ID: id, Kind: plan.Action, Action: "crm." + tool, Needs: needs, With: json.RawMessage(with),
		Timeout: policy.Duration(time.Minute), Approve: "granted",
	}
}

// crm is a rig whose plan has a connection: put takes what the tests pass, fail says why it fails, look reads only.
func crm(t *testing.T, answer func(tool string, args json.RawMessage) string, steps ...plan.Step) (*rig, *mcptest.Server) {
	t.Helper()
	server := mcptest.New(t, canary,
		`{"name":"put","inputSchema":{"type":"object","required":["body"],"properties":{"n":{"type":"integer"},`+
			`"body":{},"coded":{"type":"string","contentEncoding":"base64"},"res":{"$ref":"#/$defs/res"},"list":{"type":"array","items":{"format":"byte"}}},`+
			`"$defs":{"res":{"type":"object","properties":{"uri":{},"text":{},"blob":{},"mimeType":{}}}}}}`,
		`{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`)
	server.Answer = func(r *http.Request, tool string, args json.RawMessage) string {
		out := answer(tool, args)
		if out == "" {
			<-r.Context().Done()
		}
		return out
	}
	r := newRig(t, steps...)
	r.Plan.Connections = map[string]plan.Connection{"crm": server.Pin(t)}
	r.links = []connection.Config{{Name: "crm", URL: server.URL, Bearer: secret.NewValue([]byte(canary))}}
	require.NoError(t, r.Secrets.Add("crm-key", []byte(canary)))
	return r, server
}

func says(result string) func(string, json.RawMessage) string {
	return func(string, json.RawMessage) string { return result }
}

func TestActionOutput(t *testing.T) {
	for name, tc := range map[string]struct{ result, want string }{
		"structured":        {`{"structuredContent":{"n":9007199254740993, "f":1.0},"content":[{"type":"text","text":"x"}]}`, `{"n":9007199254740993,"f":1.0}`},
		"no structure":      {`{"structuredContent":null,"content":[{"type":"text","text":"x"}]}`, `"x"`},
		"text that is JSON": {`{"content":[{"type":"text","text":" {\"n\": 18446744073709551615} "}]}`, `{"n":18446744073709551615}`},
		"text":              {`{"content":[{"type":"text","text":"two {words}"}]}`, `"two {words}"`},
		"several":           {`{"content":[{"type":"text","text":"1"},{"type":"zzz","k":1.0}]}`, `[1,{"type":"zzz","k":1.0}]`},
		"nothing":           {`{"content":[]}`, `null`},
		"not even content":  {`{}`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := crm(t, says(tc.result), act("fetch", "look", `{}`))
			out := r.finished(t)
			require.Nil(t, out.Failure)
			require.Equal(t, tc.want, string(out.step("fetch").Output.(json.RawMessage)))
			require.Zero(t, r.vm.creates.Load(), "there is no VM")
			require.Equal(t, []string{"run.started", "step.started fetch", "tool.requested fetch", "tool.returned fetch", "step.finished fetch", "run.finished"}, r.story())
		})
	}
}

func TestActionFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		answer func(string, json.RawMessage) string
		step   plan.Step
		kind   fault.Kind
		want   string
	}{
		"the tool says so":   {says(`{"isError":true,"content":[{"type":"text","text":"no such week"}]}`), act("a", "look", `{}`), fault.Connection, "crm.look failed: no such week"},
		"it does not say":    {says(`{"isError":true,"content":[]}`), act("a", "look", `{}`), fault.Connection, "does not say why"},
		"an odd answer":      {says(`{"content":"x"}`), act("a", "look", `{}`), fault.Connection, "the answer of crm.look"},
		"its input":          {says(`{}`), act("a", "put", `{"body":1,"n":"1"}`), fault.Input, "does not match crm.put's schema: n: got string, want integer"},
		"no such tool":       {says(`{}`), act("a", "drop", `{}`), fault.Policy, "the plan has no such tool"},
		"its own credential": {says(`{"content":[{"type":"text","text":"` + canary + `"}]}`), act("a", "look", `{}`), fault.Policy, "credential"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := crm(t, tc.answer, tc.step, act("b", "look", `{}`, "a"))
			out := r.finished(t)
			require.Equal(t, Failed, out.Status)
			require.Equal(t, tc.kind, out.Failure.Kind)
			require.ErrorContains(t, out.Failure.Err, tc.want)
			require.Equal(t, Skipped, out.step("b").Status)
			require.Equal(t, "a", out.Failure.Step)
		})
	}
}

// Nobody knows whether a call that ran into the time limit took effect, and it is not tried again.
func TestActionTimeLimit(t *testing.T) {
	for limit := 100 * time.Millisecond; ; limit *= 2 {
		require.Less(t, limit, time.Minute, "no call came within the limit")
		step := act("a", "look", `{}`)
		step.Timeout = policy.Duration(limit)
		r, server := crm(t, says(""), step)
		out := r.run(t, t.Context())
		require.True(t, out.Failure.Timeout)
		if len(server.Calls()) == 0 {
			continue // on a busy machine the limit fell before the call
		}
		require.ErrorContains(t, out.Failure.Err, "the step took longer than "+limit.String()+"; whether the call took effect is unknown")
		require.Len(t, server.Calls(), 1)
		require.Len(t, r.report.Unknown, 1)
		require.Zero(t, r.count("tool.returned"))
		return
	}
}

func TestApprovalIsNeeded(t *testing.T) {
	step := act("a", "put", `{"body":1}`)
	step.Approve = ""
	r, server := crm(t, says(`{}`), step)
	out := r.finished(t)
	require.True(t, out.Failure.Consent)
	require.Equal(t, fault.Policy, out.Failure.Kind)
	require.Empty(t, server.Calls())
	require.Equal(t, true, r.one(t, "run.finished").Data["consent"])
}

func TestDriftedTool(t *testing.T) {
	r, server := crm(t, says(`{}`), act("a", "look", `{}`))
	server.Definitions[1] = strings.Replace(server.Definitions[1], "true", "false", 1)
	out := r.finished(t)
	require.True(t, out.Failure.Drift)
	require.Equal(t, []string{"run.started", "tool.drifted", "step.skipped a", "run.finished"}, r.story())
	require.Empty(t, server.Calls())
}

// What cannot be reached, and what does not take its credential, fails the run before its first step.
func TestServicesAreStartedFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil   func(r *rig, server *mcptest.Server)
		consent bool
	}{
		"gone":    {func(_ *rig, server *mcptest.Server) { server.Close() }, false},
		"refused": {func(_ *rig, server *mcptest.Server) { server.Bearer = "another" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, server := crm(t, says(`{}`), script("make"), act("a", "look", `{}`, "make"))
			tc.spoil(r, server)
			out := r.finished(t)
			require.Equal(t, fault.Connection, out.Failure.Kind)
			require.Equal(t, tc.consent, out.Failure.Consent)
			require.ErrorContains(t, out.Failure.Err, "connection crm")
			require.Empty(t, out.Failure.Step)
			require.Zero(t, r.vm.creates.Load())
			require.Equal(t, Skipped, out.step("make").Status)
		})
	}
}

// Files reach a tool in the form that its schema takes: as text, base64, or a resource.
func TestFilesForActions(t *testing.T) {
	binary := "%PDF\x00\xff"
	coded := base64.StdEncoding.EncodeToString([]byte(binary))
	ref := func(name string) string { return `"${{ steps.make.artifacts['` + name + `'] }}"` }
	for name, tc := range map[string]struct{ with, want string }{
		"text":            {`{"body":` + ref("a.txt") + `}`, `{"body":"grüße\n"}`},
		"binary":          {`{"body":` + ref("b.pdf") + `}`, `{"body":"` + coded + `"}`},
		"base64":          {`{"body":1,"coded":` + ref("a.txt") + `}`, `{"body":1,"coded":"Z3LDvMOfZQo="}`},
		"in a list":       {`{"body":1,"list":[` + ref("a.txt") + `]}`, `{"body":1,"list":["Z3LDvMOfZQo="]}`},
		"text resource":   {`{"body":1,"res":` + ref("a.txt") + `}`, `{"body":1,"res":{"mimeType":"text/plain; charset=utf-8","text":"grüße\n","uri":"artifact:///make/a.txt"}}`},
		"binary resource": {`{"body":1,"res":` + ref("b.pdf") + `}`, `{"body":1,"res":{"blob":"` + coded + `","mimeType":"application/octet-stream","uri":"artifact:///make/b.pdf"}}`},
		"its path":        {`{"body":"it is ` + strings.Trim(ref("a.txt"), `"`) + `"}`, `{"body":"it is /workspace/in/make/a.txt"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r, server := crm(t, says(`{}`), script("make"), act("drop", "put", tc.with, "make"))
			r.on("make", func(s *scene) (sandbox.Result, error) {
				s.keep("a.txt", "grüße\n")
				s.keep("b.pdf", binary)
				s.print("{}")
				return sandbox.Result{}, nil
			})
			require.Nil(t, r.finished(t).Failure)
			require.Equal(t, []string{"put " + tc.want}, server.Calls())
		})
	}
}

func TestFileInputsForActions(t *testing.T) {
	r, server := crm(t, says(`{}`), act("drop", "put", `{"body":"${{ inputs.table }}"}`))
	obj, err := r.Objects.PutBytes([]byte("1,2\n"))
	require.NoError(t, err)
	r.Input = []byte(`{"table":"sha256:a"}`)
	r.Files = map[string]FileInput{"table": {Name: "t.csv", Size: 4, Open: func() (io.ReadCloser, error) { return r.Objects.Open(obj.Digest) }}}
	require.Nil(t, r.finished(t).Failure)
	require.Equal(t, []string{"put {\"body\":\"1,2\\n\"}"}, server.Calls())
}

// Numbers keep their spelling from one tool to the next.
func TestActionsHandOn(t *testing.T) {
	r, server := crm(t, says(`{"structuredContent":{"n":9007199254740993}}`),
		act("a", "look", `{}`), act("b", "put", `{"n":"${{ steps.a.output.n }}","body":"n is ${{ steps.a.output.n }}"}`, "a"))
	require.Nil(t, r.finished(t).Failure)
	require.Equal(t, `put {"body":"n is 9007199254740993","n":9007199254740993}`, server.Calls()[1])
}

// An action runs beside a step in the VM.
func TestActionsRunInParallel(t *testing.T) {
	called := make(chan struct{})
	r, _ := crm(t, func(string, json.RawMessage) string { close(called); return `{}` }, script("make"), act("a", "look", `{}`))
	r.on("make", func(s *scene) (sandbox.Result, error) {
		<-called // else this waits for good
		s.print("{}")
		return sandbox.Result{}, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.Nil(t, r.run(t, ctx).Failure)
}
