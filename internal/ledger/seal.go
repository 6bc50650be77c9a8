package ledger

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/notekey"
)

// SealName is the file that holds the seal, beside the ledger.
const SealName = "seal.note"

// ErrSealed is in the tree of Reopen's error when the ledger ends in run.sealed.
var ErrSealed = errors.New("the ledger is sealed")

// Seal is what a ledger was when it was sealed.
type Seal struct {
	Entries int64  // run.sealed included
	Head    string // hash of run.sealed
	Note    []byte // what SealName holds
}

// Seal ends the ledger: it appends run.sealed, durably, and writes SealName, a note that the workspace's key signs over
// the number of entries, the head and the root of the tree over the lines as this writer wrote them. A line that somebody
// else has changed meanwhile does not get under the seal. A ledger that Reopen went on with may be sealed without
// run.finished, and the entry says that it was recovered. After an error the ledger counts as unsealed; Reseal may help.
//
// noted, when not nil, is called once run.sealed is durable and before there is a note, with a Seal without one: what it
// keeps elsewhere is what Reseal is later told.
func (w *Writer) Seal(key notekey.Key, noted func(Seal)) (Seal, error) {
	data := Data{"key": key.Public.String()}
	if w.reopened {
		data["recovered"] = true
	}
	w.mu.Lock()
	data["entries"] = w.seq
	body, err := encode(RunSealed, data)
	if err == nil {
		err = w.record(RunSealed, "", body)
	}
	if err != nil {
		w.mu.Unlock()
		return Seal{}, err
	}
	if err := w.sync(); err != nil {
		return Seal{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if noted != nil {
		noted(Seal{Entries: w.seq, Head: w.prev})
	}
	return w.sign(key)
}

// Reseal writes the seal that a stopped process owed to the ledger in dir: run.sealed is its last line, which names this
// key, and there is no SealName. It does nothing when there is one. It signs only what ends as noted says, which came from
// Seal: whoever can write the file could have put a run.sealed there.
func Reseal(dir, run, planDigest string, key notekey.Key, noted Seal) (Seal, error) {
	if _, err := os.Lstat(filepath.Join(dir, SealName)); err == nil {
		return Seal{}, nil
	}
	w, err := newWriter(run, planDigest, Options{})
	if err != nil {
		return Seal{}, err
	}
	path := filepath.Join(dir, FileName)
	f, err := openExisting(path)
	if err != nil {
		return Seal{}, err
	}
	defer f.Close()
	torn, err := w.resume(f, path)
	switch {
	case err != nil:
		return Seal{}, err
	case w.last != RunSealed || len(torn) > 0:
		return Seal{}, fault.New(fault.Ledger, "the ledger does not end in run.sealed").At(path, 0, 0)
	case w.seq != noted.Entries || w.prev != noted.Head:
		return Seal{}, fault.New(fault.Ledger, "it ends otherwise than joy noted when it wrote run.sealed").At(path, 0, 0)
	case !strings.Contains(w.sealing, `"key":"`+key.Public.String()+`"`):
		return Seal{}, fault.New(fault.Ledger, "run.sealed names another key than this workspace's").At(path, 0, 0)
	}
	w.dir = dir
	return w.sign(key)
}

// sign writes the note for the ledger as it is.
func (w *Writer) sign(key notekey.Key) (Seal, error) {
	text := fmt.Sprintf("joy-ledger/%s/%s\n%d\n%s\nhead %s\nplan %s\n",
		key.Public.Owner(), w.run, w.seq, w.tree.root(), w.prev, w.plan)
	signed, err := note.Sign(&note.Note{Text: text}, key.Signer)
	if err == nil && w.dir != "" {
		err = writeFile(w.dir, SealName, signed)
	}
	if err != nil {
		return Seal{}, fault.Wrap(fault.Platform, err, "write the seal")
	}
	return Seal{w.seq, w.prev, signed}, nil
}

// writeFile puts data at name in dir at once and durably: a reader sees all of it or none.
func writeFile(dir, name string, data []byte) error {
	f, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// tree is the tree of RFC 6962 over the lines without their newlines, as far as it takes to go on: the roots of its full
// subtrees, the largest first.
type tree struct {
	n     uint64
	roots []tlog.Hash
}

func (t *tree) add(line []byte) {
	h := tlog.RecordHash(line)
	for range bits.TrailingZeros64(^t.n) {
		last := len(t.roots) - 1
		h = tlog.NodeHash(t.roots[last], h)
		t.roots = t.roots[:last]
	}
	t.roots = append(t.roots, h)
	t.n++
}

// root is that of at least one line.
func (t *tree) root() tlog.Hash {
	h := t.roots[len(t.roots)-1]
	for i := len(t.roots) - 2; i >= 0; i-- {
		h = tlog.NodeHash(t.roots[i], h)
	}
	return h
}
