package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
)

// A list verifies a ledger of up to listWhole bytes from its first byte; of a larger one it reads the first line and the
// last listTail bytes, which its seal is held against.
const (
	listWhole = 256 << 10
	listTail  = 64 << 10
)

// unsealed is what a list calls a ledger that finished and has no seal.
const unsealed = "unsealed"

// summarize is a run for a list: an outcome is shown only when the entry that says so stands in a chain that holds, or is
// tied by one to a seal that does.
func (a *app) summarize(run state.Run) (runJSON, error) {
	r := runJSON{Run: run.ID}
	v, err := a.judgeForList(run, func(e verify.Entry) {
		switch e.Type {
		case "run.started":
			r.Agent = e.String("agent")
		case "run.finished":
			r.Outcome, r.Failure = e.String("outcome"), e.String("failure_kind")
		}
	})
	if err != nil {
		return r, err
	}
	r.Entries, r.Ledger, r.Line, r.Problem, r.Since = v.Entries, string(v.State), v.Line, v.Problem, v.maintenance.text()
	if v.State == verify.Broken {
		r.Outcome, r.Failure = "", ""
	}
	r.live = v.State == verify.Incomplete && a.stillRuns(filepath.Join(run.Dir, ledgerFile))
	if v.State == verify.Incomplete && v.Finished && !v.Sealed {
		r.Ledger = unsealed
	}
	if v.Entries > 0 {
		r.Started, r.MS = stampUTC(v.Started), v.Ended.Sub(v.Started).Milliseconds()
	}
	return r, nil
}

// judgeForList is judgeRun at a price that a list of a thousand runs can pay.
func (a *app) judgeForList(run state.Run, each func(verify.Entry)) (verdict, error) {
	o := verifyOptions{each: each}
	if info, err := os.Lstat(filepath.Join(run.Dir, ledgerFile)); err != nil || info.Size() <= listWhole {
		return a.judgeRun(run, o)
	}
	f, err := openRunLedger(run)
	if err != nil {
		return verdict{}, err
	}
	defer f.Close()
	shown := a.relative(filepath.Join(run.Dir, ledgerFile))
	rep, whole, err := tailOf(f, each)
	if err != nil {
		return verdict{}, fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	if !whole {
		return a.judgeRun(run, o)
	}
	seal, err := a.readSeal(run.Dir, "")
	if err != nil {
		return verdict{}, err
	}
	if s, err := verify.ParseSeal(seal); err == nil {
		rep.Root = s.Root // that the lines have it is for joy ledger verify to see
	}
	v, err := a.judgeReport(rep, shown, o)
	v.Run = run.ID
	return v, err
}

// tailOf reports a large ledger by its first line and its end. whole is false when the last line does not fit there, or the
// first cannot be read.
func tailOf(f io.ReadSeeker, each func(verify.Entry)) (rep verify.Report, whole bool, err error) {
	first, _, err := account.Ends(f)
	if err != nil {
		return rep, false, nil
	}
	if _, err := f.Seek(-listTail, io.SeekEnd); err != nil {
		return rep, false, err
	}
	end, err := io.ReadAll(f)
	if err != nil {
		return rep, false, err
	}
	_, lines, _ := bytes.Cut(end, []byte("\n")) // where the first of them begins, nobody knows
	if !bytes.Contains(lines, []byte("\n")) {
		return rep, false, nil
	}
	each(first)
	rep, err = verify.Tail(first, bytes.NewReader(lines), each)
	return rep, true, err
}
