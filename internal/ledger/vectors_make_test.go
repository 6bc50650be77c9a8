package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/notekey"
)

const runName = "20261124-180300-k3fq2a"

// fixedKey is the same key at each call: the seals of the vectors must not change.
func fixedKey(t *testing.T, seed string) notekey.Key {
	t.Helper()
	sum := sha256.Sum256([]byte(seed))
	key, err := notekey.Workspace.New(filepath.Join(t.TempDir(), "key"), "acme", bytes.NewReader(sum[:]))
	require.NoError(t, err)
	return key
}

// sealed tells the records to a ledger of run, seals it, and returns both files.
func sealed(t *testing.T, run string, records []record, key notekey.Key) (lines, seal []byte) {
	t.Helper()
	dir := t.TempDir()
	w, err := ledger.Create(dir, run, plan, ledger.Options{Now: ticking()})
	require.NoError(t, err)
	for _, r := range records {
		_, err := w.Append(r.typ, r.step, r.data)
		require.NoError(t, err)
	}
	_, err = w.Seal(key, nil)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return read(t, dir, ledger.FileName), read(t, dir, ledger.SealName)
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return b
}

// maker collects vectors and their files.
type maker struct {
	t       *testing.T
	files   map[string][]byte
	vectors []vector
}

func makeVectors(t *testing.T) *maker {
	m := &maker{t: t, files: map[string][]byte{}}
	m.whole()
	m.tampering()
	m.forms()
	m.proofs()
	slices.SortFunc(m.vectors, func(a, b vector) int { return strings.Compare(a.Name, b.Name) })
	return m
}

// headOf is the hash that ends a ledger.
func headOf(lines []byte) string { return string(lines[len(lines)-74 : len(lines)-3]) }

func (m *maker) add(v vector) { m.vectors = append(m.vectors, v) }

// pair adds a sealed ledger and its seal.
func (m *maker) pair(name, run string, records []record, key notekey.Key) {
	m.files[name+".jsonl"], m.files[name+".note"] = sealed(m.t, run, records, key)
}

// whole are ledgers that nobody has touched.
func (m *maker) whole() {
	key, other := fixedKey(m.t, "acme"), fixedKey(m.t, "another")
	m.pair("sealed", runName, story, key)
	m.add(vector{Name: "sealed", Ledger: "sealed.jsonl", Seal: "sealed.note"})
	m.add(vector{Name: "sealed, by the key given", Ledger: "sealed.jsonl", Seal: "sealed.note", Key: key.Public.String()})
	m.add(vector{Name: "sealed, by another key than given", Ledger: "sealed.jsonl", Seal: "sealed.note", Key: other.Public.String()})
	m.add(vector{Name: "sealed, without the seal", Ledger: "sealed.jsonl"})

	m.files["unsealed.jsonl"] = write(m.t, story)
	m.add(vector{Name: "unsealed", Ledger: "unsealed.jsonl"})
	m.add(vector{Name: "unsealed, with the head given", Ledger: "unsealed.jsonl", Head: headOf(m.files["unsealed.jsonl"])})
	m.add(vector{Name: "unsealed, with another head given", Ledger: "unsealed.jsonl", Head: plan})
	m.files["interrupted.jsonl"] = write(m.t, story[:6])
	m.add(vector{Name: "interrupted", Ledger: "interrupted.jsonl"})

	dir := left(m.t, append(write(m.t, story[:6]), `{"seq":7,"ti`...))
	w, err := ledger.Reopen(dir, runName, plan, ledger.Options{Now: ticking()})
	require.NoError(m.t, err)
	_, err = w.Seal(key, nil)
	require.NoError(m.t, err)
	require.NoError(m.t, w.Close())
	m.files["recovered.jsonl"], m.files["recovered.note"] = read(m.t, dir, ledger.FileName), read(m.t, dir, ledger.SealName)
	m.add(vector{Name: "recovered", Ledger: "recovered.jsonl", Seal: "recovered.note"})

	dir = left(m.t, write(m.t, story))
	w, err = ledger.Reopen(dir, runName, plan, ledger.Options{Now: ticking()})
	require.NoError(m.t, err)
	_, err = w.Seal(key, nil)
	require.NoError(m.t, err)
	require.NoError(m.t, w.Close())
	m.files["finished-recovered.jsonl"], m.files["finished-recovered.note"] = read(m.t, dir, ledger.FileName), read(m.t, dir, ledger.SealName)
	m.add(vector{Name: "finished, recovered", Ledger: "finished-recovered.jsonl", Seal: "finished-recovered.note"})

	deep := any("deepest")
	for range 62 { // with the object, the list and the text itself: 64
		deep = []any{deep}
	}
	m.pair("limits", strings.Repeat("r", 64), []record{
		{ledger.RunStarted, "", ledger.Data{"workspace": "acme", "": ledger.Data{}, "none": []any{}, "yes": true, "no": false}},
		{ledger.FileRead, "s", ledger.Data{"deep": []any{deep}, "most": ledger.MaxInt, "least": -ledger.MaxInt, "zero": 0}},
		{ledger.RunFinished, "", nil},
	}, key)
	m.add(vector{Name: "limits", Ledger: "limits.jsonl", Seal: "limits.note"})
	m.pair("unicode", "run_unicode", []record{
		{ledger.RunStarted, "", ledger.Data{"workspace": "acme", "z": 1, "é": 2, "\uFFFD": 3, "😀": 4, "\x7f": 5, "\"\\/": 6, "\n": 7}},
		{ledger.FileRead, "schritt-ü", ledger.Data{
			"controls": "\x00\x01\b\t\n\v\f\r\x1f\x7f\u0085", "html": "<&>'\u2028\u2029", "bidi": "\u202egpj.exe", "plane 16": "\U0010FFFF",
			"combined": "e\u0301 is not \u00e9", "bytes": must(ledger.Text([]byte("a\xff\xc3(b"))),
		}},
		{ledger.RunFinished, "", nil},
	}, key)
	m.add(vector{Name: "unicode", Ledger: "unicode.jsonl", Seal: "unicode.note"})
}

func must(s string, _ bool) string { return s }

// tampering is what somebody may do to a sealed ledger of 15 lines.
func (m *maker) tampering() {
	key := fixedKey(m.t, "acme")
	edited := slices.Clone(story)
	edited[7] = record{ledger.EgressAllowed, "render", ledger.Data{"host": "evil.example", "port": 443}}
	rewritten, _ := sealed(m.t, runName, edited, key)
	_, m.files["other-run.note"] = sealed(m.t, "20261124-190000-aaaaaa", story, key)
	for name, change := range map[string]func(l [][]byte) [][]byte{
		"cut-1":      func(l [][]byte) [][]byte { return l[:14] },
		"cut-9":      func(l [][]byte) [][]byte { return l[:6] },
		"empty":      func([][]byte) [][]byte { return nil },
		"torn":       func(l [][]byte) [][]byte { return append(l[:14], l[14][:40]) },
		"added":      func(l [][]byte) [][]byte { return append(l, l[14]) },
		"swapped":    func(l [][]byte) [][]byte { l[6], l[7] = l[7], l[6]; return l },
		"duplicated": func(l [][]byte) [][]byte { return slices.Insert(l, 8, l[7]) },
		"removed":    func(l [][]byte) [][]byte { return slices.Delete(l, 7, 8) },
		"edited":     func(l [][]byte) [][]byte { l[7] = bytes.Replace(l[7], []byte("evil"), []byte("good"), 1); return l },
		"rewritten":  func([][]byte) [][]byte { return bytes.SplitAfter(rewritten, []byte("\n")) },
	} {
		lines := bytes.SplitAfter(m.files["sealed.jsonl"], []byte("\n"))
		m.files[name+".jsonl"] = bytes.Join(change(lines[:len(lines)-1:len(lines)-1]), nil)
		m.add(vector{Name: name, Ledger: name + ".jsonl", Seal: "sealed.note"})
	}
	m.add(vector{Name: "empty, without the seal", Ledger: "empty.jsonl"})
	m.add(vector{Name: "torn, without the seal", Ledger: "torn.jsonl"})
	m.add(vector{Name: "torn, with the whole ledger's head", Ledger: "torn.jsonl", Head: headOf(m.files["sealed.jsonl"])})
	m.add(vector{Name: "the seal of another run", Ledger: "sealed.jsonl", Seal: "other-run.note"})
	seal := string(m.files["sealed.note"])
	signature := seal[strings.LastIndex(seal, " ")+20:]
	text, _, _ := strings.Cut(seal, "\n\n")
	shorter, err := note.Sign(&note.Note{Text: strings.Replace(text, "\n15\n", "\n14\n", 1) + "\n"}, key.Signer)
	require.NoError(m.t, err)
	for name, text := range map[string]string{
		"seal-size":      string(shorter),
		"seal-signature": strings.Replace(seal, signature, strings.ToLower(signature), 1),
		"seal-text":      strings.Replace(seal, "joy-ledger/", "joy-registry/", 1),
		"seal-empty":     "",
	} {
		m.files[name+".note"] = []byte(text)
		m.add(vector{Name: name, Ledger: "sealed.jsonl", Seal: name + ".note"})
	}
}

// forms are second lines whose hash is right: only their form, or one rule, is against them.
func (m *maker) forms() {
	first := write(m.t, story[:1])
	prev := headOf(first)
	const good = `"step":"a","data":{"a":"é\n","n":1}`
	for name, edit := range map[string][2]string{
		"space":         {`"n":1`, `"n": 1`},
		"order":         {`"a":"é\n","n":1`, `"n":1,"a":"é\n"`},
		"twice":         {`"n":1`, `"n":1,"n":1`},
		"escape":        {`é`, `\u00e9`},
		"upper":         {`\n`, `\u001F`},
		"surrogate":     {`é`, `\ud800`},
		"not-utf8":      {`é`, "\xff"},
		"null":          {`"n":1`, `"n":null`},
		"float":         {`"n":1`, `"n":1.0`},
		"minus-zero":    {`"n":1`, `"n":-0`},
		"large":         {`"n":1`, `"n":9007199254740992`},
		"deep":          {`"n":1`, `"n":` + strings.Repeat("[", 65) + strings.Repeat("]", 65)},
		"empty-step":    {`"step":"a"`, `"step":""`},
		"extra-key":     {`"data"`, `"extra":1,"data"`},
		"unknown-type":  {`file.read`, `file.eaten`},
		"started-twice": {`file.read`, `run.started`},
		"sealed-early":  {`file.read`, `run.sealed`},
		"time-back":     {`18:03:01.000Z`, `18:02:59.999Z`},
		"time-form":     {`18:03:01.000Z`, `18:03:01Z`},
		"other-run":     {runName, "20261124-190000-aaaaaa"},
		"other-prev":    {prev, plan},
	} {
		body := fmt.Sprintf(`{"seq":2,"time":"2026-11-24T18:03:01.000Z","run":"%s","type":"file.read",%s,"prev":"%s"`, runName, good, prev)
		require.Contains(m.t, body, edit[0], name)
		body = strings.Replace(body, edit[0], edit[1], 1)
		file := "form-" + name + ".jsonl"
		m.files[file] = fmt.Appendf(slices.Clone(first), "%s,\"hash\":\"sha256:%x\"}\n", body, sha256.Sum256([]byte(body)))
		m.add(vector{Name: "form: " + name, Ledger: file})
	}
}

// proofs are for one entry of the sealed ledger.
func (m *maker) proofs() {
	proof := func(name string, seq int64, change func(p *verify.Proof)) {
		p, _, err := verify.Prove(bytes.NewReader(m.files["sealed.jsonl"]), seq, verify.Options{})
		require.NoError(m.t, err)
		p.Seal = string(m.files["sealed.note"])
		change(p)
		b, err := json.MarshalIndent(p, "", "  ")
		require.NoError(m.t, err)
		m.files["proof-"+name+".json"] = append(b, '\n')
		m.add(vector{Name: "proof: " + name, Proof: "proof-" + name + ".json"})
	}
	proof("first", 1, func(*verify.Proof) {})
	proof("middle", 8, func(*verify.Proof) {})
	proof("last", 15, func(*verify.Proof) {})
	proof("edited", 8, func(p *verify.Proof) { p.Line = strings.Replace(p.Line, "evil", "good", 1) })
	proof("of-another-ledger", 8, func(p *verify.Proof) {
		p.Line = strings.TrimSuffix(string(bytes.SplitAfter(m.files["rewritten.jsonl"], []byte("\n"))[7]), "\n")
	})
	proof("other-place", 8, func(p *verify.Proof) { p.Index = 8 })
	proof("short", 8, func(p *verify.Proof) { p.Hashes = p.Hashes[:2] })
	proof("long", 8, func(p *verify.Proof) { p.Hashes = append(p.Hashes, p.Hashes[0]) })
	proof("other-size", 8, func(p *verify.Proof) { p.Size = 16 })
	proof("other-seal", 8, func(p *verify.Proof) { p.Seal = string(m.files["other-run.note"]) })
	proof("other-key", 8, func(p *verify.Proof) { p.Key = fixedKey(m.t, "another").Public.String() })
}
