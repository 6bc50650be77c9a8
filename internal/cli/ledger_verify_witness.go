package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// maxWitnessed is the largest file of a witness's answers that is read: a start and an end, at the most they may have.
const maxWitnessed = 1 << 20

// heldByWitness compares with what a witness was told, by the file beside the ledger, and checks its signature when its
// key was given. Without the key the file proves no more than that nobody changed the ledger alone.
func (v *verdict) heldByWitness(dir string, keys []string) error {
	if v.State == verify.Broken {
		return nil
	}
	data, err := ordinary.Read(filepath.Join(dir, witnessFile), maxWitnessed)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Input, err, "read what the witness answered")
	}
	signed := false
	for line := range bytes.Lines(data) {
		var w witnessed
		if err := json.Unmarshal(line, &w); err != nil {
			v.breakWith("what its witness answered cannot be read: "+err.Error(), 0)
			return nil
		}
		if w.Run != v.Run || w.At != "end" {
			continue
		}
		if w.Entries != v.Entries || w.Head != v.Head {
			v.breakWith(fmt.Sprintf("the witness %s was told of %d entries and the head %s, and the ledger has %d and %s",
				w.Witness, w.Entries, w.Head, v.Entries, v.Head), 0)
			return nil
		}
		if v.cosigned(w.Answer, keys) {
			signed = true
			v.prove("witness", w.Witness, "witnessed by %s at %s: its answer is signed with the key given", w.Witness, w.Time)
		} else {
			v.prove("witness", w.Witness, "witnessed by %s at %s, as %s says: ask it for the head", w.Witness, w.Time, witnessFile)
		}
	}
	if len(keys) > 0 && !signed {
		v.breakWith("no witness's answer is signed with the key given", 0)
	}
	return nil
}

func (v *verdict) cosigned(answer string, keys []string) bool {
	for _, key := range keys {
		if v.Seal != nil && v.Seal.CosignedBy(answer, key) == nil {
			return true
		}
	}
	return false
}
