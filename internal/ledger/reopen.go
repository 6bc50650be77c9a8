package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// Reopen goes on with the ledger that a stopped process left in dir. A torn last line is cut off after the last
// newline, its bytes are kept in TornName (again, if an earlier recovery was itself interrupted), and
// ledger.recovered {bytes, sha256} is appended. It fails with kind Ledger, naming the line, when any whole line does
// not belong to the chain, and when there is nothing to go on with: no whole line, or a seal.
func Reopen(dir, run, planDigest string, opts Options) (*Writer, error) {
	w, err := newWriter(run, planDigest, opts)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, FileName)
	f, err := openExisting(path)
	if err != nil {
		return nil, err
	}
	torn, err := w.resume(f, path)
	if err == nil && w.last == RunSealed {
		err = fault.Wrap(fault.Ledger, ErrSealed, "open ledger").At(path, 0, 0)
	}
	if err == nil && len(torn) > 0 {
		err = cut(f, dir, TornName, torn)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w.dir = dir
	w.start(f, opts)
	if len(torn) > 0 {
		_, err = w.Effect(LedgerRecovered, "", Data{"bytes": len(torn), "sha256": digestOf(torn)})
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

func openExisting(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fault.Wrap(fault.Ledger, err, "open ledger")
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Ledger, "open ledger: not a regular file").At(path, 0, 0)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|noFollow, 0) // #nosec G304 -- follows no link
	if err != nil {
		return nil, fault.Wrap(fault.Ledger, err, "open ledger")
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Ledger, err, "open ledger: another process writes it").
			At(path, 0, 0), f.Close())
	}
	return f, nil
}

// resume follows the chain through f, sets the writer's state to its end and returns the torn bytes.
func (w *Writer) resume(f *os.File, path string) (torn []byte, err error) {
	w.reopened = true
	r := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		raw, err := readLine(r)
		if err == nil && raw[len(raw)-1] == '\n' {
			err = w.follow(raw[:len(raw)-1])
		} else if err == nil || errors.Is(err, io.EOF) {
			torn = raw
			break
		}
		if err != nil {
			return nil, fault.Wrap(fault.Ledger, err, "this line does not belong to the chain").At(path, n, 0).
				WithHint("joy ledger verify %s", path)
		}
	}
	if w.seq == 0 && !w.beside {
		return nil, fault.New(fault.Ledger, "the ledger holds no whole entry").At(path, 0, 0)
	}
	return torn, nil // synced stays 0: what the stopped process wrote may not be on the disk yet
}

// readLine reads one line with its newline; without one it is the last. The error is io.EOF when nothing is left.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxLine:
			return nil, fmt.Errorf("longer than %d bytes", MaxLine)
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// A line ends in two digests of fixed length, so its end can be found without decoding it.
const (
	digestLen = len("sha256:") + 64
	hashLen   = len(`,"hash":""}`) + digestLen
	prevLen   = len(`,"prev":""`) + digestLen
)

// follow checks that raw is the next line of the chain and moves the writer's state behind it.
func (w *Writer) follow(raw []byte) error {
	if len(raw) < hashLen+prevLen {
		return errors.New("too short")
	}
	body := raw[:len(raw)-hashLen]
	hash := digestOf(body)
	if want := `,"hash":"` + hash + `"}`; string(raw[len(body):]) != want {
		return errors.New("its hash does not match its bytes")
	}
	if want := `,"prev":"` + w.prev + `"`; !bytes.HasSuffix(body, []byte(want)) {
		return errors.New("its prev is not the hash of the line before")
	}
	head, ok := bytes.CutPrefix(body, []byte(`{"seq":`+strconv.FormatInt(w.seq+1, 10)+`,"time":"`))
	if !ok || len(head) < len(timeLayout) {
		return fmt.Errorf("its seq is not %d", w.seq+1)
	}
	at, err := time.Parse(timeLayout, string(head[:len(timeLayout)]))
	if err != nil {
		return errors.New("its time is not RFC 3339 in UTC with milliseconds")
	}
	rest, ok := bytes.CutPrefix(head[len(timeLayout):], []byte(`","run":"`+w.run+`","type":"`))
	if !ok {
		return fmt.Errorf("it is not of run %s", w.run)
	}
	typ, _, _ := bytes.Cut(rest, []byte{'"'})
	if why := w.allowed(Type(typ)); why != "" {
		return fmt.Errorf("%q: %s", typ, why)
	}
	w.step(hash, Type(typ), at, raw)
	if w.last == RunSealed {
		w.sealing = string(raw)
	}
	return nil
}

// cut keeps torn in the file name and takes it off the end of f. Nothing is cut before it is kept.
func cut(f *os.File, dir, name string, torn []byte) error {
	path := filepath.Join(dir, name)
	keep, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|noFollow, 0o600) // #nosec G304 -- follows no link
	if err != nil {
		return fault.Wrap(fault.Platform, err, "keep the torn line")
	}
	_, werr := keep.Write(torn)
	if err := errors.Join(werr, keep.Sync(), keep.Close(), syncDir(dir)); err != nil {
		return fault.Wrap(fault.Platform, err, "keep the torn line")
	}
	info, err := f.Stat()
	if err != nil {
		return fault.Wrap(fault.Platform, err, "cut the torn line")
	}
	if err := f.Truncate(info.Size() - int64(len(torn))); err != nil {
		return fault.Wrap(fault.Platform, err, "cut the torn line")
	}
	return nil
}
