package ledger_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// vectorDir holds what a verifier in any language is tried on; the page on the format says what is in it.
const vectorDir = "../../testdata/ledger"

// vector is one case of vectors.json: what a verifier is given, and what it must say of it.
type vector struct {
	Name   string `json:"name"`
	Ledger string `json:"ledger,omitempty"`
	Seal   string `json:"seal,omitempty"`
	Key    string `json:"key,omitempty"`
	Head   string `json:"given_head,omitempty"`
	Proof  string `json:"proof,omitempty"`

	State   verify.State `json:"state"`
	Line    int          `json:"line"`
	Entries int64        `json:"entries"` // that hold; of a proof the entry's seq
	Last    string       `json:"head"`    // hash of the last of them; of a proof that of its entry
	Problem string       `json:"problem"` // in joy's words, which another verifier need not use
}

// judge is what joy says of a vector's files.
func (v vector) judge(t *testing.T, read func(name string) []byte) vector {
	t.Helper()
	if v.Proof != "" {
		return v.judgeProof(t, read(v.Proof))
	}
	rep, err := verify.Check(bytes.NewReader(read(v.Ledger)), verify.Options{})
	require.NoError(t, err)
	ev := verify.Evidence{Head: v.Head}
	if v.Seal != "" {
		ev.Seal = read(v.Seal)
	}
	if v.Key != "" {
		ev.Keys = []string{v.Key}
	}
	got := verify.Judge(rep, ev)
	v.State, v.Line, v.Entries, v.Last, v.Problem = got.State, got.Line, got.Entries, got.Head, got.Problem
	return v
}

func (v vector) judgeProof(t *testing.T, text []byte) vector {
	t.Helper()
	var p verify.Proof
	require.NoError(t, json.Unmarshal(text, &p))
	e, seal, err := p.Check()
	key := p.Key
	if v.Key != "" {
		key = v.Key
	}
	if err == nil {
		err = seal.SignedBy(key)
	}
	v.State, v.Entries, v.Last = verify.Complete, e.Seq, e.Hash
	if err != nil {
		v.State, v.Entries, v.Last, v.Problem = verify.Broken, 0, "", err.Error()
	}
	return v
}

// TestVectors makes the vectors anew and holds what is in the repository to it, and joy's verifier to what is written there.
func TestVectors(t *testing.T) {
	m := makeVectors(t)
	for i, v := range m.vectors {
		m.vectors[i] = v.judge(t, func(name string) []byte {
			require.Contains(t, m.files, name)
			return m.files[name]
		})
	}
	list, err := json.MarshalIndent(m.vectors, "", "  ")
	require.NoError(t, err)
	m.files["vectors.json"] = append(list, '\n')
	for name, want := range m.files {
		path := filepath.Join(vectorDir, name)
		if *update {
			require.NoError(t, os.WriteFile(path, want, 0o600))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s: run go test ./internal/ledger -update, and look at what changed", name)
	}
	states, problems := map[verify.State]int{}, map[string]string{}
	for _, v := range m.vectors {
		states[v.State]++
		if strings.Contains(v.Name, ": ") {
			continue // several wrong forms may have one explanation
		}
		if other, ok := problems[v.Problem]; ok && v.Problem != "" {
			t.Errorf("%s and %s are told in the same words: %s", other, v.Name, v.Problem)
		}
		problems[v.Problem] = v.Name
	}
	require.Greater(t, states[verify.Broken], states[verify.Complete])
}

// secondLines bounds the second verifier: a page that a short program can be written from is one that can be checked.
const secondLines = 150

// TestSecondVerifier runs a verifier that was written from the page on the format alone, in another language.
func TestSecondVerifier(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs python3")
	}
	python, err := exec.LookPath("python3")
	require.NoError(t, err, "run script/setup")
	cmd := exec.CommandContext(t.Context(), python, "verify.py", "--vectors", "vectors.json")
	cmd.Dir = vectorDir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	list, err := os.ReadFile(filepath.Join(vectorDir, "vectors.json"))
	require.NoError(t, err)
	var vectors []vector
	require.NoError(t, json.Unmarshal(list, &vectors))
	require.Equal(t, fmt.Sprintf("%d vectors agree\n", len(vectors)), string(out))
	text, err := os.ReadFile(filepath.Join(vectorDir, "verify.py"))
	require.NoError(t, err)
	require.LessOrEqual(t, bytes.Count(text, []byte("\n")), secondLines)
}
