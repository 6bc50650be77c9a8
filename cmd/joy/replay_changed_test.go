//go:build linux

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/replay"
)

// retold is a record file as it would be if the run had gone otherwise: whole in itself, and of a ledger without a seal. change
// alters an entry in place; keep gives the name of a body that it adds.
func retold(t *testing.T, file []byte, change func(e verify.Entry, keep func(body []byte) string)) []byte {
	t.Helper()
	objects := map[string][]byte{}
	keep := func(body []byte) string {
		name := digest.Bytes(body)
		objects[name] = body
		return name
	}
	var p *plan.Plan
	parts, err := replay.Unpack(bytes.NewReader(file), func(parts replay.Parts) (_ []string, err error) {
		if p, err = plan.Decode(parts.Lock, "joy.lock"); err != nil {
			return nil, err
		}
		return replay.Needs(parts, p)
	}, func(name string, body []byte) error { objects[name] = body; return nil })
	require.NoError(t, err)
	var out bytes.Buffer
	var w *ledger.Writer
	_, err = verify.Check(bytes.NewReader(parts.Ledger), verify.Options{Each: func(e verify.Entry) {
		if w == nil {
			w, err = ledger.Memory(e.Run, e.Prev, ledger.Options{Tee: &out})
			require.NoError(t, err)
		}
		change(e, keep)
		if e.Type != "run.sealed" {
			_, err := w.Append(ledger.Type(e.Type), e.Step, e.Data)
			require.NoError(t, err)
		}
	}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	told := replay.Parts{Ledger: out.Bytes(), Lock: parts.Lock}
	needs, err := replay.Needs(told, p)
	require.NoError(t, err)
	var record bytes.Buffer
	require.NoError(t, replay.Write(&record, told, needs, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(objects[name])), nil
	}))
	return record.Bytes()
}

// An answer of a tool that is another than in the run makes the model ask something else, and that is named: the step, its turn
// and the byte.
func TestReplayNamesAChangedToolAnswer(t *testing.T) {
	needVM(t)
	b, s := worked(t)
	code, _, stderr := b.run("run", "--jsonl", "--input", "data=@data.csv")
	require.Zero(t, code, stderr)
	asked := len(s.Requests())
	code, stdout, stderr := b.run("ledger", "export", "--format", "replay", "-o", "run.replay")
	require.Zero(t, code, "%s%s", stdout, stderr)
	file, err := os.ReadFile(filepath.Join(b.dir, "run.replay"))
	require.NoError(t, err)
	changed := 0
	there := elsewhere(t, map[string]string{"run.replay": string(retold(t, file, func(e verify.Entry, keep func([]byte) string) {
		if e.Type == "tool.returned" {
			answer := []byte(`{"content":[{"type":"text","text":"The sum of 2 and 3 is 6."}]}`)
			e.Data["result"] = map[string]any{"bytes": int64(len(answer)), "sha256": keep(answer)}
			changed++
		}
	}))})
	require.Equal(t, 1, changed)
	code, stdout, stderr = there.run("replay", "run.replay")
	require.Equal(t, 1, code, "%s%s", stdout, stderr)
	require.Regexp(t, `^differs: 0/2 steps, [01]/2 artifacts\nfirst: step report: turn 2 of step report asks something else than on record, from byte \d+ on: .*everything\.get-sum`, stdout)
	require.Len(t, s.Requests(), asked, "nobody was asked")
}

// A script that does not do the same twice is found, with the command or the artifact and, where both have their bytes, the first
// that differs.
func TestReplayNamesTheFirstDifference(t *testing.T) {
	needVM(t)
	for name, c := range map[string]struct{ script, says string }{
		"what it prints": {
			"echo the same; cat /proc/sys/kernel/random/uuid; echo '{}'",
			`^differs: 0/1 steps, 0/0 artifacts\nfirst: step odd: stdout of command 1 differs from byte (9|1\d) on\n`,
		},
		"what it leaves": {
			"printf 'the same ' > out/a.txt; cat /proc/sys/kernel/random/uuid >> out/a.txt; echo same > out/b.txt; echo '{}'",
			`^differs: 0/1 steps, 1/2 artifacts\nfirst: step odd: artifact a.txt differs from byte (9|1\d) on\n`,
		},
		"what it runs to": {
			"exit $((3 + $(date +%s) % 200))",
			`^differs: 0/1 steps, 0/0 artifacts\nfirst: step odd: end of command 1: exit \d+, and was exit \d+\n$`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{
				"skills/odd/SKILL.md": "---\nname: odd\ndescription: Does something else each time.\nmetadata: {joy.entry: odd.sh}\n---\n",
				"skills/odd/odd.sh":   "#!/bin/sh\n" + c.script + "\n",
				"joy.yaml":            "version: 1\nname: odd\nimage: tiny\nskills: [skills/odd]\npolicy: {cpus: 1, memory: 256MiB, disk: 64MiB}\n",
			})
			b.run("run")
			code, stdout, stderr := b.run("replay", "latest")
			require.Equal(t, 1, code, "%s%s", stdout, stderr)
			require.Regexp(t, c.says, stdout)
			b.verifies(0)
		})
	}
}
