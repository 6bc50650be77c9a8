package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/container"
	"github.com/joystream-ai/joy/internal/secret/rules"
)

// RuleSecret is what has the shape of a credential: a skill goes into the VM, where no credential enters.
const RuleSecret = "JOY-SECRET"

// unpacked bounds what is looked into of archives and documents in a bundle. It knows no time: the same bundle has the same
// findings on a slow machine.
var unpacked = container.Limits{Depth: 4, Entries: maxMembers, Bytes: maxUnpacked, Ratio: 200, Free: maxUnpacked}

// secrets looks through every file, what it contains, and its name.
func (b *Bundle) secrets(r *report) {
	find := rules.Default().Finder()
	for _, f := range b.Files {
		file := path.Join(b.Dir, f.Path)
		for _, s := range Secrets(find, []byte(f.Path)) {
			s.says = "the name of a file"
			r.secret(b.skillPath(), s)
		}
		data := b.Contents[f.Path]
		for _, s := range Secrets(find, data) {
			if !isText(data) {
				s.Line, s.Col = 0, 0
			}
			r.secret(file, s)
		}
		if err := b.innerSecrets(find, data, func(s Secret) { r.secret(file, s) }); err != nil {
			r.note(RuleUnread, file, "it was not looked through for credentials to its end: %v", err)
		}
	}
}

// Secret is what a rule takes for a credential in one text. The value is nowhere in it.
type Secret struct {
	Rule      string // gitleaks'
	Line, Col int    // of the first; Col in characters
	Count     int
	says      string // where in the file, when that is no line
}

// Secrets lists what the rules find in a text, each rule once.
func Secrets(find *rules.Finder, text []byte) (list []Secret) {
	_ = find.Scan(bytes.NewReader(text), func(rule string, at int64) {
		if i := slices.IndexFunc(list, func(s Secret) bool { return s.Rule == rule }); i >= 0 {
			list[i].Count++
			return
		}
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		list = append(list, Secret{rule, 1 + bytes.Count(text[:at], []byte("\n")), 1 + utf8.RuneCount(text[start:at]), 1, ""})
	})
	return list
}

// innerSecrets looks into what a file contains, and names the first member that has a name.
func (b *Bundle) innerSecrets(find *rules.Finder, data []byte, tell func(Secret)) error {
	var list []Secret
	_, err := container.Look(context.Background(), bytes.NewReader(data), int64(len(data)), unpacked, func(name string, body io.Reader) error {
		return find.Scan(body, func(rule string, _ int64) {
			i := slices.IndexFunc(list, func(s Secret) bool { return s.Rule == rule })
			if i < 0 {
				i, list = len(list), append(list, Secret{Rule: rule, Count: 1, says: "what it contains"})
			}
			if name != "" && list[i].says == "what it contains" {
				list[i].says = name + " within it"
			}
		})
	})
	for _, s := range list {
		tell(s)
	}
	if errors.Is(err, container.ErrLimit) {
		return err
	}
	return nil // what is broken is told by the search for risky content
}

// Says is the finding in words.
func (s Secret) Says() string {
	msg := fmt.Sprintf("a credential, by the rule %s", s.Rule)
	if s.says != "" {
		msg += ", in " + shorten(strings.ToValidUTF8(s.says, "\uFFFD"))
	}
	if s.Count > 1 {
		msg += fmt.Sprintf(" (and %d more)", s.Count-1)
	}
	return msg
}

func (r *report) secret(file string, s Secret) {
	r.findings = append(r.findings, Finding{Rule: RuleSecret, By: s.Rule, Severity: SeverityError, File: file, Line: s.Line, Col: s.Col, Message: s.Says()})
}
