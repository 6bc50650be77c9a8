package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
	"github.com/joystream-ai/joy/internal/term"
)

// missing is the state of a run that the index knows and the project does not hold.
const missing verify.State = "missing"

// removed is the state of a run that joy gc removed, with its ledger, because it was old.
const removed verify.State = "removed"

// removalText says when and by whom.
func removalText(r *state.Removal) string {
	return "removed on " + r.Time.UTC().Format(time.DateOnly) + " by " + r.By
}

// ledgerVerifyAll checks every run of the project, and those that the user's index says were recorded here.
func (a *app) ledgerVerifyAll(o verifyOptions) error {
	list, err := a.judgeAll(o)
	if err != nil {
		return err
	}
	bad := slices.DeleteFunc(slices.Clone(list), func(v verdict) bool { return v.State == verify.Complete || v.State == removed })
	switch {
	case a.json:
		docs := make([]verifyJSON, 0, len(list))
		for _, v := range list {
			docs = append(docs, verifyDoc(v))
		}
		err = a.printJSON(struct {
			Schema string       `json:"schema"`
			Runs   []verifyJSON `json:"runs"`
		}{"joy.ledger-verify-all/1", docs})
	case len(list) == 1 && list[0].State != missing && list[0].State != removed:
		_, err = io.WriteString(a.out, a.verifyText(list[0]))
	default:
		for _, v := range list {
			if _, werr := io.WriteString(a.out, a.verifyLine(v)); werr != nil {
				return werr
			}
		}
	}
	switch {
	case err != nil || len(bad) == 0:
		return err
	case a.json:
		return exit(exitCodeOf(fault.Ledger))
	case len(list) == 1:
		return ledgerFault(bad[0].file, bad[0].Report)
	}
	return fault.New(fault.Ledger, "%d of %d ledgers do not hold", len(bad), len(list)).WithHint("joy ledger verify %s", bad[0].Run)
}

// judgeAll is the verdict on each run, the newest first.
func (a *app) judgeAll(o verifyOptions) ([]verdict, error) {
	path := state.PathOf(a.dir, a.stateOverride())
	heads, err := state.OpenIndex(a.cfg.Dirs.State).Heads(path)
	if err != nil {
		return nil, err
	}
	var runs []state.Run
	dir, err := a.existingState(a.dir)
	if err == nil {
		runs, err = dir.Runs()
	}
	if err != nil && (!errors.Is(err, state.ErrNone) || len(heads) == 0) {
		return nil, err
	}
	var list []verdict
	for _, run := range runs {
		v, err := a.judgeRun(run, o)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	for _, h := range heads {
		if !slices.ContainsFunc(runs, func(r state.Run) bool { return r.ID == h.Run }) {
			list = append(list, goneVerdict(h, a.relative(filepath.Join(path, "runs", h.Run, ledgerFile))))
		}
	}
	if len(list) == 0 {
		_, err := dir.Resolve("")
		return nil, err
	}
	slices.SortFunc(list, func(a, b verdict) int { return strings.Compare(b.Run, a.Run) })
	return list, nil
}

func (a *app) judgeRun(run state.Run, o verifyOptions) (verdict, error) {
	shown := a.relative(filepath.Join(run.Dir, ledgerFile))
	if h, err := state.OpenIndex(a.cfg.Dirs.State).Head(run.ID); err == nil && h.Removed != nil {
		return goneVerdict(h, shown), nil // not all of it yet
	}
	f, err := openRunLedger(run)
	if err != nil && fault.KindOf(err) == fault.Ledger {
		return missingVerdict(run.ID, shown, fault.All(err)[0].Msg), nil
	}
	if err != nil {
		return verdict{}, err
	}
	defer f.Close()
	v, err := a.judgeLedger(f, shown, o)
	if v.Run == "" {
		v.Run = run.ID
	}
	return v, err
}

// goneVerdict is of a run whose ledger is not there, by what the index knows.
func goneVerdict(h state.Head, file string) verdict {
	if h.Removed != nil {
		v := missingVerdict(h.Run, file, removalText(h.Removed))
		v.State = removed
		return v
	}
	return missingVerdict(h.Run, file, fmt.Sprintf("its ledger is gone: your index of runs has %d entries of it", h.Entries))
}

func missingVerdict(run, file, problem string) verdict {
	return verdict{Verdict: verify.Verdict{Report: verify.Report{Run: run, State: missing, Problem: problem}}, file: file}
}

// verifyLine is a verdict on one line.
func (a *app) verifyLine(v verdict) string {
	style, words := a.out.good, []string{string(v.State)}
	switch v.State {
	case verify.Complete:
		words = append(words, fmt.Sprintf("%d entries", v.Entries))
	case removed:
		style, words[0] = a.out.dim, v.Problem
	default:
		style, words[0] = a.out.fail, words[0]+": "+v.Problem
	}
	for _, p := range v.proofs {
		words = append(words, p.Kind)
	}
	if text := v.maintenance.text(); text != "" {
		words = append(words, text)
	}
	return fmt.Sprintf("run %s: %s\n", term.Line(v.Run), style.Render(term.Line(strings.Join(words, ", "))))
}
