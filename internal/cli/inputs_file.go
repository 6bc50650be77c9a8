package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/term"
)

// fileInput reads the value of a file input, which names a file of the user with @.
func (a *app) fileInput(name string, v json.RawMessage, p *plan.Plan, take taking) (runner.FileInput, error) {
	var text string
	if err := json.Unmarshal(v, &text); err != nil || !strings.HasPrefix(text, "@") || len(text) == 1 {
		return runner.FileInput{}, fault.New(fault.Input, "input %s takes a file", name).WithHint("--input %s=@FILE", name)
	}
	f, err := a.takeFile(name, text[1:], int64(p.Policy.Disk), take)
	if err != nil {
		return f, err
	}
	f.Name = placeName(name, filepath.Base(text[1:]), p)
	return f, nil
}

// placeName is what a file input is called in /workspace/in: its own name in plain characters, with the input's name
// before it where that would be taken for something else that lies there.
func placeName(input, base string, p *plan.Plan) string {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
			return r
		}
		return '_'
	}, base)
	_, step := p.Step(plain)
	if step || plain == "input.json" || strings.HasPrefix(plain, ".") {
		return input + "-" + plain
	}
	return plain
}

// openInput opens a file that is given to a run.
func (a *app) openInput(path string) (*os.File, error) { return ordinary.Open(a.abs(path)) }

// takeFile judges a file and has it kept. What is kept is what was judged, or nothing. What has no room on the VM's disk is not
// read.
func (a *app) takeFile(name, path string, room int64, take taking) (runner.FileInput, error) {
	wrong := func(err error) (runner.FileInput, error) {
		return runner.FileInput{}, fault.Wrap(fault.Input, err, "input %s", name)
	}
	f, err := a.openInput(path)
	if err != nil {
		return wrong(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return wrong(err)
	} else if info.Size() > room {
		return runner.FileInput{}, fault.New(fault.Input, "input %s: %s has %s, and the disk of the VM %s", name, path,
			term.Size(info.Size()), term.Size(room)).WithHint("give it more with policy.disk in joy.yaml")
	}
	if take.judge == nil {
		kept, err := take.keep(f)
		if err != nil {
			return wrong(err)
		}
		return kept, nil
	}
	judged, err := hashFile(f)
	if err != nil {
		return wrong(err)
	}
	if err := take.judge.refuseFile(name, path, f, judged.Size); err != nil {
		return judged, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return wrong(err)
	}
	kept, err := take.keep(f)
	if err == nil && kept.SHA256 != judged.SHA256 {
		err = fmt.Errorf("%s changed while it was read", path)
	}
	if err != nil {
		return wrong(err)
	}
	return kept, nil
}

// hashFile says what a file is without keeping it.
func hashFile(f *os.File) (runner.FileInput, error) {
	sum, size, err := digest.Reader(f)
	return runner.FileInput{Size: size, SHA256: strings.TrimPrefix(sum, "sha256:")}, err
}
