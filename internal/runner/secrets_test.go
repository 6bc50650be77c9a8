package runner

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// requireNowhere holds that no file of the run, its logs and objects among them, has the value in any of these
// spellings, in its bytes or its name.
func (r *rig) requireNowhere(t testing.TB, value string) {
	t.Helper()
	require.GreaterOrEqual(t, len(value), 8)
	spellings := map[string]string{
		"as it is": value, "base64": base64.StdEncoding.EncodeToString([]byte(value)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(value)),
		"hex": hex.EncodeToString([]byte(value)), "UTF-16": utf16(value),
	}
	files := 0
	require.NoError(t, filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		for how, s := range spellings {
			require.False(t, bytes.Contains(b, []byte(s)), "%s holds it %s", path, how)
			require.NotContains(t, d.Name(), s)
		}
		return err
	}))
	require.NotZero(t, files)
}

func utf16(s string) string {
	var b []byte
	for i := range len(s) {
		b = append(b, s[i], 0)
	}
	return string(b)
}

// A step that does what it can to get its token on record fails to, whichever way it comes out of the VM.
func TestTokenIsNowhere(t *testing.T) {
	for name, leak := range map[string]struct {
		do   func(s *scene, token string)
		find map[string]int // entries by type, beyond those of every run
	}{
		"printed":           {func(s *scene, token string) { s.print("token " + token + "\n") }, map[string]int{"scrub.found": 1}},
		"printed to stderr": {func(s *scene, token string) { _, _ = s.stderr.Write([]byte(token)) }, map[string]int{"scrub.found": 1}},
		"printed in base64": {func(s *scene, token string) {
			s.print(base64.StdEncoding.EncodeToString([]byte("user:"+token)) + "\n" + base64.StdEncoding.EncodeToString([]byte(token)) + "\n")
		}, map[string]int{"scrub.found": 1}},
		"printed in two halves": {func(s *scene, token string) {
			s.print("x" + token[:20])
			s.print(token[20:] + "\n")
		}, map[string]int{"scrub.found": 1}},
		"printed letter by letter": {func(s *scene, token string) {
			for i := range token {
				s.print(token[i : i+1])
			}
			s.print("\n")
		}, map[string]int{"scrub.found": 1}},
		"in text":        {func(s *scene, token string) { s.keep("env.txt", "A=1\nJOY_RUN_TOKEN="+token+"\n") }, map[string]int{"scrub.found": 1, "artifact.stored": 1}},
		"in bytes":       {func(s *scene, token string) { s.keep("environ", "A=1\x00JOY_RUN_TOKEN="+token+"\x00") }, map[string]int{"artifact.quarantined": 1}},
		"in UTF-16":      {func(s *scene, token string) { s.keep("w.txt", "\xff\xfe"+utf16(token)) }, map[string]int{"artifact.quarantined": 1}},
		"in hex":         {func(s *scene, token string) { s.keep("x.bin", "\x00"+hex.EncodeToString([]byte(token))) }, map[string]int{"artifact.quarantined": 1}},
		"in a name":      {func(s *scene, token string) { s.keep(token+".txt", "harmless") }, map[string]int{"artifact.quarantined": 1}},
		"in a bad name":  {func(s *scene, token string) { s.keep("../"+token, "harmless") }, map[string]int{"artifact.skipped": 1}},
		"in its result":  {func(s *scene, token string) { s.print(`{"t":"` + token + `"}` + "\n") }, map[string]int{"scrub.found": 1}},
		"as a request":   {func(s *scene, token string) { s.request(token + " /" + token + " HTTP/1.1") }, map[string]int{"egress.denied": 1}},
		"in half a file": {func(s *scene, token string) { s.out = append(s.out, outFile{"cut", token + "\x00", os.ErrInvalid}) }, map[string]int{"artifact.skipped": 1}},
		"in a large file": {func(s *scene, token string) {
			s.keep("big", string(make([]byte, 3<<20))+token+string(make([]byte, 3<<20)))
		}, map[string]int{"artifact.quarantined": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"), script("b", "a"))
			var token string
			r.on("a", func(s *scene) (sandbox.Result, error) {
				token = s.token()
				leak.do(s, token)
				s.print("{}")
				return sandbox.Result{}, nil
			})
			out := r.finished(t)
			require.Equal(t, Succeeded, out.Status)
			r.requireNowhere(t, token)
			for typ, n := range leak.find {
				require.Equal(t, n, r.count(typ), typ)
			}
			for path, body := range r.vm.scene("b").files {
				require.NotContains(t, path+body, token, "the next step got it")
			}
			require.NotContains(t, string(out.step("a").Tail), token)
		})
	}
}

// What a failure says may quote the VM: it is scrubbed before anybody reads it.
func TestTokenInAFailure(t *testing.T) {
	for name, fail := range map[string]func(s *scene) (sandbox.Result, error){
		"last line":    func(s *scene) (sandbox.Result, error) { s.print("{" + s.token()); return sandbox.Result{}, nil },
		"signal":       func(s *scene) (sandbox.Result, error) { return sandbox.Result{ExitCode: 1, Signal: s.token()}, nil },
		"reason":       func(s *scene) (sandbox.Result, error) { return sandbox.Result{ExitCode: 1, Reason: s.token()}, nil },
		"the VM's end": func(s *scene) (sandbox.Result, error) { return sandbox.Result{}, lastWords(s.token()) },
		"no start":     func(s *scene) (sandbox.Result, error) { return sandbox.Result{}, refused(s.token()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"))
			var token string
			r.on("a", func(s *scene) (sandbox.Result, error) {
				token = s.token()
				return fail(s)
			})
			out := r.run(t, t.Context())
			require.Equal(t, Failed, out.Status)
			require.NotContains(t, out.Failure.Err.Error(), token)
			r.requireNowhere(t, token)
		})
	}
}

// A secret input is in the VM, and nowhere on record; its digest cannot be guessed at.
func TestSecretInput(t *testing.T) {
	const pin = "hunter2-hunter2"
	s := script("a")
	s.With = []byte(`{"pin": "${{ inputs.pin }}"}`)
	tell := plan.Step{ID: "tell", Kind: plan.Action, With: s.With, Timeout: s.Timeout}
	r := newRig(t, s, tell)
	r.Call = echo
	r.Input = []byte(`{"pin":"` + pin + `"}`)
	require.NoError(t, r.Secrets.Add("input-pin", []byte(pin)))
	require.Equal(t, Succeeded, r.finished(t).Status)
	require.Equal(t, pin, r.vm.scene("a").spec.Env["JOY_INPUT_PIN"])
	require.Equal(t, `{"pin":"`+pin+`"}`, r.vm.scene("a").files["in/input.json"])
	r.requireNowhere(t, pin)
	input, _ := r.list[0].Data["input"].(map[string]any)
	require.Equal(t, true, input["scrubbed"])
	require.Equal(t, `{"pin":"[REDACTED:input-pin]"}`, r.object(t, input))
}
