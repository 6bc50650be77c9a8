package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/runner"
)

// fileInput reads the value of a file input, which names a file of the user with @.
func fileInput(name string, v json.RawMessage, p *plan.Plan, take func(name, path string) (runner.FileInput, error)) (runner.FileInput, error) {
	var text string
	if err := json.Unmarshal(v, &text); err != nil || !strings.HasPrefix(text, "@") || len(text) == 1 {
		return runner.FileInput{}, fault.New(fault.Input, "input %s takes a file", name).WithHint("--input %s=@FILE", name)
	}
	f, err := take(name, text[1:])
	if err != nil {
		return f, fault.Wrap(fault.Input, err, "input %s", name)
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

// openInput opens a file that is given to a run. It looks before it opens: a pipe would hold joy until somebody writes.
func (a *app) openInput(path string) (*os.File, error) {
	info, err := os.Stat(a.abs(path))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not an ordinary file", path)
	}
	return os.Open(a.abs(path))
}

// hashFile says what a file is without keeping it.
func (a *app) hashFile(_, path string) (runner.FileInput, error) {
	f, err := a.openInput(path)
	if err != nil {
		return runner.FileInput{}, err
	}
	defer f.Close()
	sum, size, err := digest.Reader(f)
	return runner.FileInput{Size: size, SHA256: strings.TrimPrefix(sum, "sha256:")}, err
}
