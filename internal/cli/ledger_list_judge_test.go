package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is the one run of the project, as joy ledger list has it.
func (p *past) listed() runJSON {
	p.t.Helper()
	code, said := p.joy("ledger", "list", "--json")
	require.Zero(p.t, code, said)
	var doc struct{ Runs []runJSON }
	require.NoError(p.t, json.Unmarshal(p.out.Bytes(), &doc))
	require.Len(p.t, doc.Runs, 1)
	return doc.Runs[0]
}

// large is what makes a ledger too long to be read whole for a list.
var large = strings.Split(strings.Repeat("some artifact,", 2000), ",")

// A list says of a ledger what verify says, whether it has read all of it or not, as far as its end tells.
func TestListHoldsLedgersAgainstTheirSeals(t *testing.T) {
	edit := func(from, to string) func(p *past, dir string) {
		return func(p *past, dir string) {
			path := filepath.Join(dir, ledgerFile)
			body, err := os.ReadFile(path)
			require.NoError(p.t, err)
			at := bytes.LastIndex(body, []byte(from))
			require.GreaterOrEqual(p.t, at, 0)
			require.NoError(p.t, os.WriteFile(path, append(append(body[:at:at], to...), body[at+len(from):]...), 0o600))
		}
	}
	cut := func(lines int) func(p *past, dir string) {
		return func(p *past, dir string) {
			path := filepath.Join(dir, ledgerFile)
			body, err := os.ReadFile(path)
			require.NoError(p.t, err)
			all := bytes.SplitAfter(body, []byte("\n"))
			require.NoError(p.t, os.WriteFile(path, bytes.Join(all[:len(all)-1-lines], nil), 0o600))
		}
	}
	remove := func(name string) func(p *past, dir string) {
		return func(p *past, dir string) { require.NoError(p.t, os.Remove(filepath.Join(dir, name))) }
	}
	both := func(list ...func(p *past, dir string)) func(p *past, dir string) {
		return func(p *past, dir string) {
			for _, do := range list {
				do(p, dir)
			}
		}
	}
	forget := func(p *past, dir string) { require.NoError(p.t, p.index.RemoveHead(filepath.Base(dir))) }
	for name, c := range map[string]struct {
		do      func(p *past, dir string)
		ledger  string
		outcome string
		problem string
	}{
		"as it was":         {func(*past, string) {}, "complete", "succeeded", ""},
		"edited at end":     {edit("succeeded", "succeedee"), "broken", "", "was edited: its hash does not match its bytes"},
		"cut":               {cut(3), "broken", "", "cut off"},
		"torn":              {edit("\"}\n", ""), "broken", "", "torn"},
		"empty":             {func(p *past, d string) { require.NoError(p.t, os.Truncate(filepath.Join(d, ledgerFile), 0)) }, "broken", "", "the ledger is empty"},
		"deleted":           {remove(ledgerFile), "missing", "", "has no ledger"},
		"seal deleted":      {remove(sealFile), "incomplete", "succeeded", "its seal is not here"},
		"cut and forgotten": {both(cut(1), remove(sealFile), forget), unsealed, "succeeded", "the ledger is not sealed"},
		"cut with its seal": {both(cut(1), remove(sealFile)), "broken", "", "your index of runs has"},
		"seal emptied":      {func(p *past, d string) { require.NoError(p.t, os.Truncate(filepath.Join(d, sealFile), 0)) }, "broken", "", "its seal cannot be read"},
		"died":              {both(cut(2), remove(sealFile), forget), "incomplete", "", "there is no run.finished"},
	} {
		for size, bodies := range map[string][]string{"small": {"a"}, "large": large} {
			p := newPast(t)
			run := p.run(40, true, bodies...)
			c.do(p, run.Dir)
			r := p.listed()
			require.Equal(t, c.ledger, r.Ledger, "%s, %s: %s", name, size, r.Problem)
			require.Equal(t, c.outcome, r.Outcome, "%s, %s", name, size)
			require.Contains(t, r.Problem, c.problem, "%s, %s", name, size)
		}
	}
}

// What lies far from the end of a large ledger is left to verify, and help says so.
func TestListReadsTheEndOfALargeLedger(t *testing.T) {
	p := newPast(t)
	run := p.run(40, true, large...)
	path := filepath.Join(run.Dir, ledgerFile)
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Greater(t, len(body), listWhole)
	require.NoError(t, os.WriteFile(path, bytes.Replace(body, []byte("some artifact"), []byte("SOME artifact"), 1), 0o600))
	require.Equal(t, "complete", p.listed().Ledger)
	code, said := p.joy("ledger", "verify")
	require.Equal(t, 7, code, said)
	require.Contains(t, said, "line 2 was edited")
}
