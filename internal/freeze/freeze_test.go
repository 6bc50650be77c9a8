package freeze_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/freeze"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// good begins every record here: entries of one step, without what no reader of them looks at.
var good = []verify.Entry{{Seq: 1, Step: "s", Type: "step.started", Data: map[string]any{"kind": "model"}}}

// record plays entries, numbered from 2, and a successful end.
func record(entries ...verify.Entry) *freeze.Record {
	r := &freeze.Record{Step: "s"}
	for _, e := range good {
		r.Add(e)
	}
	for i, e := range entries {
		e.Seq, e.Step = int64(i+2), "s"
		r.Add(e)
	}
	r.Add(verify.Entry{Step: "s", Type: "step.finished", Data: map[string]any{"status": "succeeded", "output": map[string]any{"sha256": "output"}}})
	return r
}

func script(text string) verify.Entry {
	return verify.Entry{Type: "command.started", Data: map[string]any{"command": text, "bytes": int64(len(text))}}
}

func ended(of, exit int64) verify.Entry {
	return verify.Entry{Type: "command.finished", Data: map[string]any{"of": of, "exit": exit}}
}

func file(path, digest string) verify.Entry {
	return verify.Entry{Type: "file.written", Data: map[string]any{"path": path, "sha256": digest}}
}

// made is the script of a record whose scripts printed the given text.
func made(t *testing.T, r *freeze.Record, input map[string]any, printed string, bodies map[string]string) freeze.Made {
	t.Helper()
	require.NoError(t, r.Check("r"))
	m, err := freeze.Write(r, options(input, printed, bodies))
	require.NoError(t, err)
	return m
}

func options(input map[string]any, printed string, bodies map[string]string) freeze.Options {
	return freeze.Options{
		Run: "r", Skill: "old", Name: "new", Input: input, Files: []string{"data"},
		Body: func(name string) ([]byte, error) {
			if text, ok := bodies[name]; ok {
				return []byte(text), nil
			}
			if name == "output" {
				return []byte(`{"a":1}`), nil
			}
			return nil, errors.New("no such object")
		},
		Printed: func(freeze.Deed) []byte { return []byte(printed) },
	}
}

// What cannot be frozen, and why.
func TestRefused(t *testing.T) {
	secret := script("echo [REDACTED:sales]")
	changed := script("echo \uFFFD")
	changed.Data["bytes"] = int64(6)
	scrubbed := file("/workspace/a", "x")
	scrubbed.Data["scrubbed"] = true
	finished := func(status string) verify.Entry {
		return verify.Entry{Step: "s", Type: "step.finished", Data: map[string]any{"status": status}}
	}
	other := &freeze.Record{Step: "s"}
	other.Add(verify.Entry{Step: "s", Type: "step.started", Data: map[string]any{"kind": "script"}})
	other.Add(finished("succeeded"))
	failed := record(script("true"), ended(2, 0))
	failed.Add(finished("failed"))
	for name, c := range map[string]struct {
		record *freeze.Record
		says   string
	}{
		"no such step":           {&freeze.Record{Step: "s"}, "has no step s"},
		"a script step":          {other, "of kind script"},
		"a step that failed":     {failed, "did not succeed"},
		"nothing was done":       {record(), "did nothing in the VM"},
		"only failures":          {record(script("false"), ended(2, 1)), "did nothing in the VM"},
		"a secret in a script":   {record(secret, ended(2, 0)), "held a secret"},
		"bytes that are no text": {record(changed, ended(2, 0)), "held a secret"},
		"a secret in a file":     {record(scrubbed), "the file /workspace/a at entry 2 held a secret"},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, c.record.Check("r"), c.says) })
	}
	_, err := freeze.Write(record(file("/workspace/a", "x")), options(nil, "", nil))
	require.ErrorContains(t, err, "no such object")
	_, err = freeze.Write(record(file("/workspace/a", "x")), options(nil, "", map[string]string{"x": "[REDACTED:key]"}))
	require.ErrorContains(t, err, "held a secret")
	_, err = freeze.Write(record(script("make"), ended(2, 0)), options(nil, "", map[string]string{"output": `"it is [REDACTED:key]"`}))
	require.ErrorContains(t, err, "the result of step s held a secret")
	require.ErrorContains(t, record(file("/workspace/[REDACTED:key]", "x")).Check("r"), "held a secret")
	odd := options(map[string]any{"a\ntouch there": "/workspace/in/x.csv"}, "", nil)
	odd.Files = []string{"a\ntouch there"}
	m, err := freeze.Write(record(script("python3 -c 'open(\"/workspace/in/x.csv\")'"), ended(2, 0)), odd)
	require.NoError(t, err)
	require.NotContains(t, string(m.Script), "\ntouch there", "the name of an input is no command")
}

// Where a value of the input is read from a variable, and where it only gets a mark.
func TestValues(t *testing.T) {
	in := map[string]any{"week": "2026-W47", "data": "/workspace/in/d.csv", "n": "12", "flag": true}
	for text, want := range map[string]string{
		`report 2026-W47`:                   `report "$JOY_INPUT_WEEK"`,
		`report '2026-W47' "2026-W47"`:      `report "$JOY_INPUT_WEEK" "$JOY_INPUT_WEEK"`,
		`week=2026-W47 report --w=2026-W47`: `week="$JOY_INPUT_WEEK" report "--w=${JOY_INPUT_WEEK}"`,
		`report > out/r-2026-W47.md`:        `report > "out/r-${JOY_INPUT_WEEK}.md"`,
		`sort in/d.csv`:                     `sort "$JOY_INPUT_DATA"`,
		`for w in 2026-W47; do :; done; x`:  `for w in "$JOY_INPUT_WEEK"; do :; done; x`,
		`sort /workspace/in/d.csv -n 12`:    `sort "$JOY_INPUT_DATA" -n 12`,
		`report 2026-W477`:                  `report 2026-W477`,
	} {
		m := made(t, record(script(text), ended(2, 0)), in, `{"a":1}`, nil)
		require.Contains(t, string(m.Script), "(\n"+want+"\n)")
		require.Empty(t, m.Reviews, text)
	}
	for _, text := range []string{
		`python3 -c "print('week 2026-W47')"`, "cat > x <<E\n2026-W47\nE", `awk '{print "2026-W47"}' x`, `sed s/x/2026-W47\\n/ x`, `2026-W47 run`,
		`echo $'2026-W47'`, `echo *2026-W47*`,
	} {
		m := made(t, record(script("make; "+text), ended(2, 0)), in, `{"a":1}`, nil)
		require.Contains(t, string(m.Script), text)
		require.Len(t, m.Reviews, 1, text)
		require.Contains(t, m.Reviews[0].Text, "read $JOY_INPUT_WEEK")
	}
}

// What is left out: what failed, and what is known to change nothing.
func TestLookingAround(t *testing.T) {
	for text, looks := range map[string]bool{
		"ls -la; cat in/x | head -3 2>/dev/null": true,
		"grep x y || echo none >&2":              true,
		"for f in *; do wc -l \"$f\"; done":      true,
		"cat x > y":                              false,
		"echo x >& y":                            false,
		"sort -o x x":                            false,
		"cat $(mktemp)":                          false,
		"$PROGRAM x":                             false,
		"ls() { rm x; }; ls":                     false,
		"python3 -c 1":                           false,
		"echo (":                                 false,
	} {
		m := made(t, record(script(text), ended(2, 0), script("make"), ended(4, 0)), nil, "", nil)
		require.Equal(t, looks, m.Left == 1, text)
	}
	m := made(t, record(script("ls"), ended(2, 0)), nil, `{"a": 1}`, nil)
	require.Equal(t, 1, m.Kept, "what printed the result is no mere look")
	m = made(t, record(script("rm x"), ended(2, 7), script("make"), ended(4, 0)), nil, `{"a": 1}`, nil)
	require.Contains(t, string(m.Script), "# Entry 2 failed (exit 7):\n# REVIEW: what it did before it failed is not repeated")
}

// The script does in a real shell what the parts did, whatever is in them.
func TestScriptRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	files := map[string]string{
		"plain": "a 'b' \"c\" $HOME `x` \\\n", "no newline": "a'b\n$x", "empty": "", "odd": "\x00\xff\r\n", "END": "END\nEND1\n",
	}
	var entries []verify.Entry
	bodies := map[string]string{}
	for name, text := range files {
		entries = append(entries, file("/workspace/d/"+name, name))
		bodies[name] = text
	}
	for _, text := range []string{
		"cd d; set -e; X=1; exit 0; false", "printf %s \"$X\" > x; # a comment", "cat <<E > unended\nlast", "echo 'a\\", "printf '%s' \"$0\" > zero",
		"shopt -s extglob\nprintf %s !(*) > glob", "shopt -s expand_aliases\nalias p=printf\np x > alias",
		"echo noise; echo '{\"a\": 1}'; printf '\\n'",
	} {
		seq := int64(len(entries) + 2)
		exit := int64(0)
		if strings.HasPrefix(text, "echo 'a") {
			exit = 2
		}
		entries = append(entries, script(text), ended(seq, exit))
	}
	m := made(t, record(entries...), nil, "noise\n{\"a\": 1}\n\n", bodies)
	require.Equal(t, "printed", m.Answer)
	dir := t.TempDir()
	run := exec.CommandContext(t.Context(), bash, "-c", strings.ReplaceAll(string(m.Script), "/workspace", dir))
	out, err := run.Output()
	require.NoError(t, err, "%s", m.Script)
	require.Equal(t, "{\"a\": 1}\n", string(out))
	files["../x"], files["../zero"], files["../unended"] = "", "bash", "last\n"
	files["../glob"], files["../alias"] = "!(*)", "x"
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, "d", name))
		require.NoError(t, err)
		if name != "../zero" {
			require.Equal(t, want, string(got), name)
		}
	}
}

// A part that fails ends the script with its status, also where only its own set -e says so.
func TestScriptFails(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	for text, code := range map[string]int{"exit 7": 7, "set -e; false; true": 1, "set -eo pipefail; false | true; touch there": 1} {
		m := made(t, record(script(text), ended(2, 0)), nil, `{"a":1}`, nil)
		run := exec.CommandContext(t.Context(), bash, "-c", strings.ReplaceAll(string(m.Script), "/workspace", t.TempDir()))
		err := run.Run()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, text)
		require.Equal(t, code, exit.ExitCode(), text)
	}
}

// An answer that no script printed is the model's words, and says so.
func TestRecordedAnswer(t *testing.T) {
	for _, printed := range []string{"", "three", `{"a":2}`, `{"a":1} {"a":1}`} {
		m := made(t, record(script("make"), ended(2, 0)), nil, printed, nil)
		require.Equal(t, "recorded", m.Answer, printed)
		require.Contains(t, string(m.Script), "# REVIEW: no part printed the result")
		require.True(t, strings.HasSuffix(string(m.Script), "cat <<'END'\n{\"a\":1}\nEND\n"))
	}
}

// An action is called again with the arguments on record, marked; what a script's output was written to is there again.
func TestCallsAndOutputs(t *testing.T) {
	asked := verify.Entry{Type: "tool.requested", Data: map[string]any{"action": "slack.post", "arguments": map[string]any{"sha256": "args"}}}
	back := verify.Entry{Type: "tool.returned", Data: map[string]any{"of": int64(2)}}
	bodies := map[string]string{"args": `{"text":"it's done"}`}
	m := made(t, record(asked, back, script("seq 9"), ended(4, 0), script("tail -1 .output/1.stdout > x"), ended(6, 0)), nil, "", bodies)
	require.Contains(t, string(m.Script), `joy-guest call slack.post --json '{"text":"it'\''s done"}' >&2`)
	require.Contains(t, string(m.Script), "(\nseq 9\n) > .output/1.stdout 2> .output/1.stderr\n")
	require.Len(t, m.Reviews, 2)
	for _, r := range m.Reviews {
		require.Contains(t, strings.Split(string(m.Script), "\n")[r.Line-1], r.Text)
	}
	back.Data["failed"] = true
	m = made(t, record(asked, back, script("make"), ended(4, 0)), nil, "", bodies)
	require.Equal(t, 1, m.Left)
	require.Contains(t, string(m.Script), "# Entry 2: a call of slack.post that failed.")
}

// The bundle's files are where its scripts look for them.
func TestMovedBundle(t *testing.T) {
	m := made(t, record(script("python3 /workspace/skills/old/scripts/x.py; cat skills/older/y"), ended(2, 0)), nil, "", nil)
	require.Contains(t, string(m.Script), "python3 /workspace/skills/new/scripts/x.py; cat skills/older/y")
	card := freeze.Card{Name: "new", Description: "Says: \"x\"\u2028y", Input: []byte(`{"type":"object"}`), Entry: "scripts/run.sh"}
	text := string(card.SkillFile("s", "r", "old"))
	require.True(t, strings.HasPrefix(text, "---\nname: \"new\"\ndescription: \"Says: \\\"x\\\"\\u2028y\"\nmetadata: {\"joy.entry\":\"scripts/run.sh\"}\ninput_schema: {\"type\":\"object\"}\n---\n"), text)
}

func FuzzWrite(f *testing.F) {
	for _, s := range []string{"ls", "cat <<E\nx", "echo 'x", "exit 1 #", "a\\", "f() { :; }; f", "((x", "value value", "echo $((1+1)) `ls`"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, content string) {
		r := record(script(text), ended(2, 0), file("/workspace/f", "f"))
		if r.Check("r") != nil || strings.ContainsAny(text, "\x00") {
			return
		}
		m, err := freeze.Write(r, options(map[string]any{"v": "value"}, "", map[string]string{"f": content}))
		if err != nil {
			require.ErrorContains(t, err, "held a secret")
			return
		}
		require.Equal(t, 2, m.Kept+m.Left, "%q", text)
	})
}
