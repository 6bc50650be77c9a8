package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/term"
)

// maxProof is the largest proof that is read: a line as JSON has it, and what belongs to it.
const maxProof = 7 * verify.MaxLine

// readProof reads a file that is a proof; it is nil for anything else. The error is of a proof that cannot be read.
func (a *app) readProof(arg string) (*verify.Proof, error) {
	if !a.namesFile(arg) {
		return nil, nil
	}
	info, err := os.Stat(a.abs(arg))
	if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(arg, ".json") {
		return nil, nil // what is no proof is tried as a ledger
	}
	data, err := ordinary.Read(a.abs(arg), maxProof)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read the proof").At(arg, 0, 0)
	}
	var p verify.Proof
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fault.Wrap(fault.Input, err, "read the proof").At(arg, 0, 0)
	}
	return &p, nil
}

// ledgerVerifyProof says what a proof shows without the rest of the ledger.
func (a *app) ledgerVerifyProof(arg string, p *verify.Proof, err error, o verifyOptions) error {
	if err != nil {
		return err
	}
	e, seal, err := p.Check()
	if err == nil {
		err = seal.SignedBy(p.Key)
	}
	v := verdict{Verdict: verify.Verdict{Report: verify.Report{SealKey: p.Key}, Seal: &seal}}
	for _, key := range o.keys {
		if err == nil && seal.SignedBy(key) == nil {
			v.Signed = append(v.Signed, key)
		}
	}
	switch {
	case err == nil && len(o.keys) > 0 && v.Signed == nil:
		err = fmt.Errorf("its seal is by %s, and not by the key given", seal.Signers[0])
	case err == nil && o.head != "" && o.head != seal.Head:
		err = errors.New("its seal is of the head " + seal.Head + ", not the one given")
	}
	if err != nil {
		return fault.New(fault.Ledger, "the proof does not hold: %s", err).At(arg, 0, 0)
	}
	v.proveSeal(a.ownPublicKey(seal.Workspace))
	if o.head != "" {
		v.prove("head", "", "the seal's head matches the one given")
	}
	if a.json {
		return a.printJSON(map[string]any{
			"schema": "joy.ledger-verify-proof/1", "file": arg, "run": e.Run, "seq": e.Seq, "type": e.Type, "entries": seal.Entries,
			"head": seal.Head, "plan_digest": seal.Plan, "proofs": v.proofs, "entry": json.RawMessage(p.Line),
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "entry %d of %d of run %s, workspace %s: in the ledger that was sealed\n", e.Seq, seal.Entries, term.Line(e.Run), term.Line(seal.Workspace))
	fmt.Fprintf(&b, "  entry    %s\n  head     %s\n", term.Line(p.Line), seal.Head)
	for _, proof := range v.proofs {
		fmt.Fprintf(&b, "  proof    %s\n", term.Line(proof.Text))
	}
	_, err = io.WriteString(a.out, b.String())
	return err
}
