package verify

import "fmt"

// Evidence is what a ledger is held against beside its own chain.
type Evidence struct {
	Seal []byte   // the content of seal.note; nil when there is none
	Keys []string // public keys, one of which must have signed the seal; none asks for no more than the ledger's own
	Head string   // "sha256:…" that must be the last entry's hash; "" for none
}

// Verdict is a Report, held against evidence: a ledger is complete only when something shows that its end is its end.
type Verdict struct {
	Report
	Seal   *Seal    // that holds; nil when there is none
	Signed []string // those of the keys given that signed it
}

// Judge holds what Check found against ev. Whatever differs makes the ledger broken; a finished run whose end nothing
// vouches for is incomplete.
func Judge(rep Report, ev Evidence) Verdict {
	v := Verdict{Report: rep}
	if rep.State == Broken {
		return v
	}
	if problem := v.seal(ev); problem != "" {
		v.State, v.Problem, v.Seal, v.Signed = Broken, problem, nil, nil
		return v
	}
	if ev.Head != "" && ev.Head != rep.Head {
		v.State, v.Line = Broken, 0
		v.Problem = fmt.Sprintf("its head is %s, not the one given: entries were cut off, added or written anew", rep.Head)
		if rep.Problem != "" {
			v.Problem = rep.Problem + "; " + v.Problem
		}
		return v
	}
	if rep.State == Complete && v.Seal == nil && (ev.Head == "" || len(ev.Keys) > 0) {
		v.State = Incomplete
		v.Problem = "the run finished, but the ledger is not sealed: nothing shows that this is its end"
		if rep.Sealed {
			v.Problem = "its seal is not here: it ends in run.sealed, and there is no seal.note"
		}
	}
	return v
}

// seal sets Seal and Signed, or says why the seal does not hold.
func (v *Verdict) seal(ev Evidence) string {
	if ev.Seal == nil {
		return ""
	}
	s, err := ParseSeal(ev.Seal)
	if err != nil {
		return "its seal cannot be read: " + err.Error()
	}
	if v.Sealed && s.Run == v.Run { // what a seal says is compared only when somebody has signed it
		if err := s.SignedBy(v.SealKey); err != nil {
			return "its seal does not hold: " + err.Error()
		}
	}
	if problem := s.Holds(v.Report); problem != "" {
		return problem
	}
	for _, key := range ev.Keys {
		if s.SignedBy(key) == nil {
			v.Signed = append(v.Signed, key)
		}
	}
	if len(ev.Keys) > 0 && v.Signed == nil {
		return fmt.Sprintf("its seal is by %s, and not by the key given", s.Signers[0])
	}
	v.Seal = &s
	return ""
}
