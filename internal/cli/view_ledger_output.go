package cli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/term"
)

// logsDirName is where a run keeps what its commands printed, beside the ledger.
const logsDirName = "logs"

// outputChunk is how much of a line is escaped and printed at a time.
const outputChunk = 64 << 10

// logsBeside is the directory of the output kept beside a ledger.
func (a *app) logsBeside(shown string) string {
	return filepath.Join(filepath.Dir(a.abs(filepath.FromSlash(shown))), logsDirName)
}

// openLog opens the kept output of a step's command, the nth of the step.
func openLog(dir, step string, nth int, stream string) (*os.File, error) {
	return openPlain(dir, fmt.Sprintf("%s.%d.%s", step, nth, stream))
}

// openPlain opens an ordinary file of a directory without following a link out of it or in it.
func openPlain(dir, name string) (*os.File, error) {
	root, err := ordinary.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return ordinary.OpenHere(root, name)
}

// kept says whether a log holds what the ledger says the command printed. Of output that was cut off nobody can tell.
func kept(f io.ReadSeeker, e verify.Entry, stream string) (problem string, err error) {
	said, _ := e.Data[stream].(map[string]any)
	if said["truncated"] == true {
		return "", nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if "sha256:"+hex.EncodeToString(sum.Sum(nil)) != said["sha256"] {
		return "the file kept is not what the ledger names: it was changed since", nil
	}
	return "", nil
}

// output prints what a command wrote to a stream that is not empty, when it is still kept and is what the ledger names.
func (v *ledgerView) output(e verify.Entry, stream string) error {
	said, _ := e.Data[stream].(map[string]any)
	out := v.app.out
	f, err := openLog(v.logs, e.Step, v.nth[e.Step], stream)
	if err != nil {
		why := "is not kept here"
		if v.gone != "" {
			why = "was removed: " + v.gone
		}
		if !errors.Is(err, fs.ErrNotExist) {
			why = "cannot be read: " + err.Error()
		}
		_, err = fmt.Fprintf(out, "    %s %s\n", stream, term.Line(why))
		return err
	}
	defer f.Close()
	problem, err := kept(f, e, stream)
	if err != nil {
		return err
	}
	if problem != "" {
		_, err = fmt.Fprintf(out, "    %s: %s\n", stream, out.warn.Render(problem))
		return err
	}
	if err := quote(out, f, out.dim.Render("    "+stream+" |")+" "); err != nil {
		return err
	}
	if said["truncated"] == true {
		_, err = fmt.Fprintf(out, "    %s goes on: what is kept ends here, and cannot be compared with its digest\n", stream)
	}
	return err
}

// quote prints a stranger's text with lead before each line. A line may be of any length: it is taken in parts, and a
// character that lies in two of them is put together again.
func quote(w io.Writer, r io.Reader, lead string) error {
	in := bufio.NewReaderSize(r, outputChunk)
	begins := true
	var held []byte
	for {
		part, err := in.ReadSlice('\n')
		text, ends := bytes.CutSuffix(append(held, part...), []byte("\n"))
		held = nil
		if errors.Is(err, bufio.ErrBufferFull) {
			whole := wholeRunes(text)
			held, text, err = bytes.Clone(text[whole:]), text[:whole], nil
		}
		if len(text) > 0 || ends {
			line := term.Escape(string(text))
			if begins {
				line = lead + line
			}
			if begins = ends; ends {
				line += "\n"
			}
			if _, err := io.WriteString(w, line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) && !begins:
			_, err = io.WriteString(w, "\n")
			return err
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// wholeRunes is the length of b without a character at its end that goes on after it.
func wholeRunes(b []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if at := len(b) - back; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				return at
			}
			break
		}
	}
	return len(b)
}
