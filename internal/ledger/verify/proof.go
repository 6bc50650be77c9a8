package verify

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// ProofSchema is the schema of a Proof.
const ProofSchema = "joy.ledger-proof/1"

// Proof shows that an entry is in a sealed ledger without the other entries.
type Proof struct {
	Schema string   `json:"schema"`
	Line   string   `json:"line"`   // the entry, without its newline
	Index  int64    `json:"index"`  // of the line, from 0
	Size   int64    `json:"size"`   // lines of the ledger
	Hashes []string `json:"hashes"` // base64, from the leaf up: RFC 6962, section 2.1.1
	Seal   string   `json:"seal"`   // the content of seal.note
	Key    string   `json:"key"`    // the public key that run.sealed names
}

// Prove reads the ledger in r as Check does and makes the proof for the entry seq, without Seal. Where the ledger does not
// hold, or has no such entry, the proof is nil. It keeps 40 bytes an entry.
func Prove(r io.Reader, seq int64, opts Options) (*Proof, Report, error) {
	var leaves []Hash
	var line string
	opts.leaf = func(e Entry, leaf Hash) {
		leaves = append(leaves, leaf)
		if e.Seq == seq {
			line = string(e.Raw)
		}
	}
	rep, err := Check(r, opts)
	if err != nil || rep.State == Broken || line == "" {
		return nil, rep, err
	}
	p := &Proof{Schema: ProofSchema, Line: line, Index: seq - 1, Size: rep.Entries, Hashes: []string{}, Key: rep.SealKey}
	for _, h := range pathTo(leaves, seq-1) {
		p.Hashes = append(p.Hashes, base64.StdEncoding.EncodeToString(h[:]))
	}
	return p, rep, nil
}

// pathTo is PATH(m, D[n]) of RFC 6962, section 2.1.1.
func pathTo(leaves []Hash, m int64) []Hash {
	if len(leaves) <= 1 {
		return nil
	}
	k := split(len(leaves))
	if m < int64(k) {
		return append(pathTo(leaves[:k], m), rootOf(leaves[k:]))
	}
	return append(pathTo(leaves[k:], m-int64(k)), rootOf(leaves[:k]))
}

func rootOf(leaves []Hash) Hash {
	var t tree
	for _, h := range leaves {
		t.add(h)
	}
	return t.root()
}

// split is the largest power of two below n.
func split(n int) int {
	k := 1
	for k<<1 < n {
		k <<= 1
	}
	return k
}

// Check says what entry the proof shows, and under which seal. The seal's signature is left to the caller.
func (p Proof) Check() (Entry, Seal, error) {
	if p.Schema != ProofSchema {
		return Entry{}, Seal{}, fmt.Errorf("it is no %s", ProofSchema)
	}
	seal, err := ParseSeal([]byte(p.Seal))
	if err != nil {
		return Entry{}, seal, fmt.Errorf("its seal cannot be read: %w", err)
	}
	e, problem := parse([]byte(p.Line), true, &Entry{})
	if problem != "" {
		return e, seal, errors.New("its line " + problem)
	}
	switch _, own := sound(e); {
	case !own:
		return e, seal, errors.New("its line was edited: the hash does not match its bytes")
	case e.Run != seal.Run:
		return e, seal, fmt.Errorf("its line is of run %.64q, and its seal of run %s", e.Run, seal.Run)
	case e.Seq != p.Index+1:
		return e, seal, fmt.Errorf("its line is entry %d, and it is to prove entry %d", e.Seq, p.Index+1)
	case p.Size != seal.Entries || p.Index < 0 || p.Index >= p.Size:
		return e, seal, fmt.Errorf("its size is %d, and its seal is of %d entries", p.Size, seal.Entries)
	}
	var room []byte
	root, err := p.climb(leafOf(&room, e.Raw))
	if err == nil && root != seal.Root {
		err = errors.New("its hashes do not lead to the seal's root: the line is not in this ledger")
	}
	return e, seal, err
}

// climb follows the hashes from the leaf to the root (RFC 9162, section 2.1.3.2).
func (p Proof) climb(h Hash) (Hash, error) {
	at, last := p.Index, p.Size-1
	for _, text := range p.Hashes {
		b, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil || len(b) != len(h) || last == 0 {
			return h, errors.New("its hashes are not those of such a tree")
		}
		if at&1 == 1 || at == last {
			h = nodeOf(Hash(b), h)
			for at&1 == 0 && at != 0 {
				at, last = at>>1, last>>1
			}
		} else {
			h = nodeOf(h, Hash(b))
		}
		at, last = at>>1, last>>1
	}
	if last != 0 {
		return h, errors.New("its hashes are not those of such a tree")
	}
	return h, nil
}
