package runner

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// What goes into a step and what comes out of it must match the skill's schemas.
func TestSchemas(t *testing.T) {
	const schema = `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`
	for name, tc := range map[string]struct {
		kind          string
		input, output string
		fails         fault.Kind
		want          string
	}{
		"input":                  {plan.Script, `{"n":"x"}`, `{"n":1}`, fault.Input, "the input does not match the skill's schema: n: got string"},
		"no input":               {plan.Script, `{}`, `{"n":1}`, fault.Input, "n"},
		"result":                 {plan.Script, `{"n":1}`, `{"n":"x"}`, fault.Agent, "the result does not match the skill's schema: n: got string"},
		"result is no object":    {plan.Script, `{"n":1}`, `[1]`, fault.Agent, "want object"},
		"a model's result":       {plan.Prompt, `{"n":1}`, `{"m":1}`, fault.Agent, "the result does not match"},
		"a model's input":        {plan.Prompt, `{}`, `{"n":1}`, fault.Input, "the input does not match"},
		"both as they should be": {plan.Script, `{"n":1}`, `{"n":2}`, "", ""},
		"a model's, too":         {plan.Prompt, `{"n":1}`, `{"n":2}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script("a")
			s.Kind, s.With = tc.kind, json.RawMessage(tc.input)
			r := newRig(t, s)
			r.Plan.Skills[0].InputSchema, r.Plan.Skills[0].OutputSchema = json.RawMessage(schema), json.RawMessage(schema)
			r.prints("a", tc.output)
			r.Prompt = func(context.Context, plan.Step, any) (any, error) { return json.RawMessage(tc.output), nil }
			out := r.finished(t)
			if tc.fails == "" {
				require.Equal(t, Succeeded, out.Status)
				return
			}
			require.Equal(t, tc.fails, out.Failure.Kind)
			require.ErrorContains(t, out.Failure.Err, tc.want)
			require.Equal(t, tc.kind == plan.Script && tc.fails == fault.Agent, r.vm.creates.Load() == 1, "a wrong input boots no VM")
		})
	}
}

// The environment has room for so much; input.json is always complete.
func TestEnvironment(t *testing.T) {
	big := strings.Repeat("x", maxEnvValue)
	s := script("a")
	with := map[string]any{
		"word": "two words", "n": 1.5, "yes": true, "none": nil, "list": []any{1, "a"}, "tree": map[string]any{"k": "<v>"},
		"too-long": big + "x", "nul": "a\x00b", "b1": big, "b2": big, "b3": big, "b4": big,
	}
	var err error
	s.With, err = json.Marshal(with)
	require.NoError(t, err)
	r := newRig(t, s)
	require.Equal(t, Succeeded, r.finished(t).Status)
	got := r.vm.scene("a")
	env := got.spec.Env
	total := 0
	for name, value := range env {
		if strings.HasPrefix(name, "JOY_INPUT_") {
			total += len(value)
		}
	}
	require.LessOrEqual(t, total, maxEnvTotal)
	require.Equal(t, []any{"JOY_INPUT_B4", "JOY_INPUT_NUL", "JOY_INPUT_TOO_LONG"}, r.one(t, "command.started").Data["env_left_out"])
	var whole map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.files["in/input.json"]), &whole))
	require.Len(t, whole, len(with))
	require.Equal(t, big+"x", whole["too-long"])
	for name := range env {
		if strings.HasPrefix(name, "JOY_INPUT_B") || name == "JOY_RUN_TOKEN" {
			delete(env, name)
		}
	}
	require.Equal(t, map[string]string{
		"PATH": searchPath, "HOME": "/root", "LANG": "C.UTF-8", "TZ": "UTC",
		"JOY_API_URL": "http://127.0.0.1:569", "JOY_INPUT": "/workspace/in/input.json", "JOY_SKILL_DIR": "/workspace/skills/a",
		"JOY_INPUT_WORD": "two words", "JOY_INPUT_N": "1.5", "JOY_INPUT_YES": "true", "JOY_INPUT_NONE": "null",
		"JOY_INPUT_LIST": `[1,"a"]`, "JOY_INPUT_TREE": `{"k":"<v>"}`,
	}, env, "nothing of the host's environment")
}

// A step finds its bundle, its input, the files it refers to and what its direct predecessors left. Nothing else.
func TestWhatAStepFinds(t *testing.T) {
	last := script("last", "mid")
	last.With = []byte(`{"table": "${{ inputs.table }}", "report": "${{ steps.mid.artifacts['r/a.txt'] }}", "n": "${{ steps.mid.output.n }}"}`)
	r := newRig(t, script("first"), script("mid", "first"), last, script("aside", "first"))
	file := func(name, body string) FileInput {
		return FileInput{Name: name, Size: int64(len(body)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }}
	}
	r.Input = []byte(`{"other":"sha256:b","table":"sha256:a"}`)
	r.Files = map[string]FileInput{"table": file("t.csv", "1,2"), "other": file("o.csv", "3,4")}
	r.leaves("first", outFile{name: "f.txt", body: "first"})
	r.on("mid", func(s *scene) (sandbox.Result, error) {
		s.keep("r/a.txt", "report")
		s.print(`{"n": 12345678901234567890}`)
		return sandbox.Result{}, nil
	})
	require.Equal(t, Succeeded, r.finished(t).Status)
	input := `{"n":12345678901234567890,"report":"/workspace/in/mid/r/a.txt","table":"/workspace/in/t.csv"}`
	require.Equal(t, map[string]string{
		"skills/last/main.sh": mainFile, "in/input.json": input, "in/t.csv": "1,2", "in/mid/r/a.txt": "report",
	}, r.vm.scene("last").files)
	require.Equal(t, map[string]string{
		"skills/aside/main.sh": mainFile, "in/input.json": "{}", "in/first/f.txt": "first",
	}, r.vm.scene("aside").files)
	require.Equal(t, []string{"skills/last"}, r.vm.scene("last").spec.ReadOnly)
	require.Equal(t, "/workspace/in/mid/r/a.txt", r.vm.scene("last").spec.Env["JOY_INPUT_REPORT"])
}

func TestInputsThatAreNotThere(t *testing.T) {
	for with, want := range map[string]string{
		`{"x": "${{ steps.up.output.total }}"}`:       `has no "total"`,
		`{"x": "${{ steps.up.output[0] }}"}`:          "is an object, not a list",
		`{"x": "${{ steps.up.artifacts['a.txt'] }}"}`: `left no "a.txt" in /workspace/out, but ["b.txt"]`,
		`{"x": "a ${{ steps.up.output }}"}`:           "an object and cannot stand inside a text",
	} {
		s := script("down", "up")
		s.With = json.RawMessage(with)
		r := newRig(t, script("up"), s)
		r.leaves("up", outFile{name: "b.txt"})
		out := r.finished(t)
		require.Equal(t, "down", out.Failure.Step)
		require.Equal(t, fault.Input, out.Failure.Kind)
		require.ErrorContains(t, out.Failure.Err, want)
		require.Equal(t, 1, r.count("command.started"))
	}
}

// The variables of a proxy are there when there is something to reach, and only then.
func TestProxyVariables(t *testing.T) {
	s := script("fetch")
	s.Egress = []string{"example.com"}
	r := newRig(t, s, script("not"))
	require.Nil(t, r.finished(t).Failure)
	env, none := r.vm.scene("fetch").spec.Env, r.vm.scene("not").spec.Env
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		require.Equal(t, "http://joy:"+env["JOY_RUN_TOKEN"]+"@127.0.0.1:569", env[name])
		require.NotContains(t, none, name)
	}
	require.Equal(t, "127.0.0.1,localhost", env["NO_PROXY"])
	require.Equal(t, env["NO_PROXY"], env["no_proxy"])
	require.Equal(t, "1", env["NODE_USE_ENV_PROXY"])
	require.NotContains(t, none, "NODE_USE_ENV_PROXY")
	require.NotContains(t, none, "NO_PROXY")
}
