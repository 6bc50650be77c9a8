package cli

import (
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

func newLedgerProveCmd(a *app) *cobra.Command {
	var out, seal string
	cmd := &cobra.Command{
		Use:   "prove RUN|FILE SEQ",
		Short: "Show one entry of a sealed ledger to somebody who must not see the rest",
		Long: "prove prints a proof that an entry is in a sealed ledger: its line, the hashes that lead from it to the root, and\n" +
			"the seal. joy ledger verify checks it without the ledger.",
		Args:              argsBetween(2, 2, "a run and the number of an entry"),
		ValidArgsFunction: a.completeRuns,
		Example: "  joy ledger prove latest 17 -o proof.json\n" +
			"  joy ledger verify proof.json --key acme.pub",
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || seq < 1 {
				return usagef(cmd, "%q is no number of an entry: the first is 1", args[1])
			}
			return a.ledgerProve(args[0], seq, seal, out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the proof to `FILE`")
	cmd.Flags().StringVar(&seal, "seal", "", "take the seal from `FILE` instead of seal.note beside the ledger")
	return cmd
}

func (a *app) ledgerProve(ref string, seq int64, seal, out string) error {
	f, shown, err := a.openLedger([]string{ref})
	if err != nil {
		return err
	}
	defer f.Close()
	note, err := a.readSeal(filepath.Dir(a.abs(shown)), seal)
	if err != nil {
		return err
	}
	p, rep, err := verify.Prove(f, seq, verify.Options{})
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	v := verify.Judge(rep, verify.Evidence{Seal: note})
	switch {
	case v.State == verify.Broken:
		return ledgerFault(shown, v.Report)
	case v.Seal == nil:
		return fault.New(fault.Ledger, "the ledger is not sealed: there is nothing to prove an entry by").At(shown, 0, 0)
	case p == nil:
		return fault.New(fault.Input, "the ledger has %d entries, and none is %d", rep.Entries, seq).At(shown, 0, 0)
	}
	p.Seal = string(note)
	if out == "" {
		return a.printJSON(p)
	}
	text, err := jsonText(p)
	if err != nil {
		return err
	}
	if _, err := build.WriteLock(a.abs(out), text); err != nil {
		return fault.Wrap(fault.Input, err, "write the proof").At(out, 0, 0)
	}
	err = a.out.Printf("%s shows entry %d of run %s", out, seq, rep.Run)
	return err
}
